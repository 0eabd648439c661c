import { read } from './api.ts';
import type { LogEvent } from './server.ts';
import { openStream } from './stream.ts';

const PATH = '/_varve/events';
/** Time until a stream that has ended is opened again. */
const PAUSE_MS = 2_000;

export type FollowedLog = {
  /** Parameters of the request. */
  readonly query: () => Readonly<Record<string, string>>;
  /** Position of the newest event that the reader has; undefined: it has none. */
  readonly newest: () => string | undefined;
  /** Called with new events, the newest first. */
  readonly seen: (events: readonly LogEvent[]) => void;
};

/**
 * Follows the log until the returned function is called: a list of the newest events, then each new one when it is stored. A hidden page
 * follows nothing, and continues where it stopped.
 */
export function followLog(log: FollowedLog): () => void {
  const end = new AbortController();
  let stream = new AbortController();
  let wake = () => {};
  const changed = () => {
    if (document.visibilityState === 'hidden') stream.abort();
    else wake();
  };
  document.addEventListener('visibilitychange', changed);
  end.signal.addEventListener('abort', () => {
    stream.abort();
    wake();
  });
  const run = async () => {
    while (!end.signal.aborted) {
      stream = new AbortController();
      // The light of the page shows that the server does not answer.
      if (document.visibilityState !== 'hidden') await followOnce(log, stream.signal).catch(() => {});
      if (end.signal.aborted) break;
      await new Promise<void>((resolve) => {
        wake = resolve;
        if (document.visibilityState !== 'hidden') setTimeout(resolve, PAUSE_MS);
      });
    }
    document.removeEventListener('visibilitychange', changed);
  };
  // Never rejects, see above.
  void run();
  return () => end.abort();
}

async function followOnce({ query, newest, seen }: FollowedLog, signal: AbortSignal): Promise<void> {
  const missed = await read<readonly LogEvent[]>(pathOf({ after: newest() ?? '0', ...query() }), signal);
  if (missed.data.length > 0 && !signal.aborted) seen(missed.data);
  const { limit: _, ...conditions } = query();
  const last = newest();
  const path = pathOf(last === undefined ? conditions : { ...conditions, after: last });
  await openStream(
    { method: 'GET', path },
    ({ event, data }) => {
      if (event === 'line' && !signal.aborted) seen((data as readonly LogEvent[]).toReversed());
    },
    signal,
  );
}

function pathOf(query: Readonly<Record<string, string>>): string {
  return `${PATH}?${new URLSearchParams(query)}`;
}
