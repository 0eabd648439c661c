import { signal } from '@preact/signals';
import { read } from './api.ts';
import type { Figures, LogEvent, ServerState } from './server.ts';

/** State of the processes, asked every few seconds while the page is visible. */
export const state = signal<ServerState | null>(null);

/** Figures of the last hour, the oldest first. */
export const samples = signal<readonly Figures[]>([]);

/** Newest events of the log, the newest first. */
export const events = signal<readonly LogEvent[]>([]);

const KEPT_EVENTS = 100;
const HOUR_MS = 3_600_000;

type Source = { readonly everyMs: number; readonly ask: () => Promise<void> };

const SOURCES: readonly Source[] = [
  { everyMs: 2_000, ask: askEvents },
  { everyMs: 4_000, ask: refreshState },
  { everyMs: 10_000, ask: askSamples },
];

/** Keeps the signals current until the returned function is called. A hidden page asks for nothing. */
export function follow(): () => void {
  const timers = SOURCES.map(({ everyMs, ask }) => {
    let isAsking = false;
    const look = () => {
      if (isAsking || document.visibilityState === 'hidden') return;
      isAsking = true;
      // The light of the page shows that the server does not answer.
      void ask()
        .catch(() => {})
        .finally(() => {
          isAsking = false;
        });
    };
    look();
    return setInterval(look, everyMs);
  });
  return () => {
    for (const timer of timers) clearInterval(timer);
  };
}

/** Reads the state now. Rejects if the server does not answer. */
export async function refreshState(): Promise<void> {
  state.value = (await read<ServerState>('/_varve/state')).data;
}

async function askSamples(): Promise<void> {
  const after = samples.value.at(-1)?.at ?? 0;
  const { data } = await read<readonly Figures[]>(`/_varve/activity?after=${after}`);
  const oldest = (data.at(-1)?.at ?? after) - HOUR_MS;
  const kept = samples.value.filter(({ at }) => at <= after);
  samples.value = [...kept, ...data].filter(({ at }) => at > oldest);
}

async function askEvents(): Promise<void> {
  const last = events.value[0]?.position ?? '0';
  const { data } = await read<readonly LogEvent[]>(`/_varve/events?limit=${KEPT_EVENTS}&after=${last}`);
  if (data.length > 0) events.value = [...data, ...events.value].slice(0, KEPT_EVENTS);
}
