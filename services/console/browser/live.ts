import { signal } from '@preact/signals';
import { read } from './api.ts';
import { followLog } from './follow-log.ts';
import type { Figures, LogEvent, ServerState } from './server.ts';

/** State of the processes, asked after events and every few seconds while the page is visible. */
export const state = signal<ServerState | null>(null);

/** Figures of the last hour, the oldest first. */
export const samples = signal<readonly Figures[]>([]);

/** Newest events of the log, the newest first. */
export const events = signal<readonly LogEvent[]>([]);

const KEPT_EVENTS = 100;
const HOUR_MS = 3_600_000;

type Source = { readonly everyMs: number; readonly ask: () => Promise<void> };

const SOURCES: readonly Source[] = [
  { everyMs: 5_000, ask: refreshState },
  { everyMs: 10_000, ask: askSamples },
];

/** Time after an event until the state is asked for: an event rarely comes alone. */
const SETTLED_MS = 2_000;

/** Keeps the signals current until the returned function is called. A hidden page asks for nothing. */
export function follow(): () => void {
  const stops = [...SOURCES.map(repeat), followEvents()];
  return () => {
    for (const stop of stops) stop();
  };
}

/** Asks a source now and then. */
function repeat({ everyMs, ask }: Source): () => void {
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
  const timer = setInterval(look, everyMs);
  return () => clearInterval(timer);
}

/** Gets new events as the server stores them. The state is asked for when there are some. */
function followEvents(): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const stop = followLog({
    query: () => ({ limit: String(KEPT_EVENTS) }),
    newest: () => events.value[0]?.position,
    seen(found) {
      events.value = [...found, ...events.value].slice(0, KEPT_EVENTS);
      // The light of the page shows that the server does not answer.
      timer ??= setTimeout(() => {
        timer = undefined;
        void refreshState().catch(() => {});
      }, SETTLED_MS);
    },
  });
  return () => {
    stop();
    clearTimeout(timer);
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
