import { SIGN_OF_LIFE_MS } from './operator-protocol.ts';

/** Watches how long a server sends nothing. */
export type Silence = {
  /** Aborted with `error` when the server has sent nothing for a minute. */
  readonly signal: AbortSignal;
  /** The server has sent something. */
  heard(): void;
  end(): void;
};

/** Number of missing signs of life in a row: a minute. A worker that crashed repeatedly is started again sooner. */
const MISSING_SIGNS = 60;

/** Begins to watch. Ticks are counted, since this process may be paused too: afterwards one tick counts for the whole pause. */
export function watchSilence(error: Error): Silence {
  const silent = new AbortController();
  let missing = 0;
  const timer = setInterval(() => {
    missing += 1;
    if (missing >= MISSING_SIGNS) silent.abort(error);
  }, SIGN_OF_LIFE_MS);
  return {
    signal: silent.signal,
    heard() {
      missing = 0;
    },
    end: () => clearInterval(timer),
  };
}

/** A server that is not watched. */
export const NOT_WATCHED: Silence = { signal: new AbortController().signal, heard() {}, end() {} };
