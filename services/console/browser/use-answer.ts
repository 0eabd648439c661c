import { useEffect, useState } from 'preact/hooks';
import { type Meta, read } from './api.ts';

/** Answer to a question that was sent to the server, and how to ask again. */
type Asked<Found> = {
  /** The last answer, also that to the question before while another one is asked. undefined: there was none yet. */
  readonly found: { readonly key: string; readonly answer: Found } | undefined;
  /** Reason why the last attempt failed; null: it did not. */
  readonly problem: string | null;
  readonly again: () => void;
};

/** Time until a question that got no answer is asked again. */
const PAUSE_MS = 2_000;

/**
 * Asks a question when a component appears, when the key of the question changes, and when `again` is called. Repeats it until the server
 * answers: a refusal is an answer. A hidden page waits until it is seen.
 */
export function useAsked<Found>(key: string, ask: (signal: AbortSignal) => Promise<Found>): Asked<Found> {
  const [found, setFound] = useState<{ readonly key: string; readonly answer: Found }>();
  const [problem, setProblem] = useState<string | null>(null);
  const [count, setCount] = useState(0);
  const again = () => setCount((before) => before + 1);
  useEffect(() => {
    const stop = new AbortController();
    let pause: ReturnType<typeof setTimeout> | undefined;
    const later = () => {
      pause = setTimeout(() => (document.visibilityState === 'hidden' ? later() : again()), PAUSE_MS);
    };
    ask(stop.signal).then(
      (answer) => {
        setFound({ key, answer });
        setProblem(null);
      },
      (error: Error) => {
        if (stop.signal.aborted) return;
        setProblem(error.message);
        if (error instanceof TypeError) later();
      },
    );
    return () => {
      stop.abort();
      clearTimeout(pause);
    };
  }, [key, count]);
  return { found, problem, again };
}

/** Answer of a read, and how to read it again. */
export type UsedAnswer<Data> = {
  /** undefined: there is none yet. */
  readonly data: Data | undefined;
  readonly meta: Meta;
  /** The last answer, also that of the path before while another one is read. undefined: there was none yet. */
  readonly latest: { readonly data: Data; readonly meta: Meta } | undefined;
  readonly problem: string | null;
  readonly again: () => void;
};

/** Reads a path when a component appears, when the path changes, and when `again` is called. */
export function useAnswer<Data>(path: string): UsedAnswer<Data> {
  const { found, problem, again } = useAsked(path, (signal) => read<Data>(path, signal));
  const isCurrent = found?.key === path;
  return {
    data: isCurrent ? found.answer.data : undefined,
    meta: isCurrent ? found.answer.meta : {},
    latest: found?.answer,
    problem,
    again,
  };
}
