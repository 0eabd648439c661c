import { useEffect, useState } from 'preact/hooks';
import { type Meta, read } from './api.ts';

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
  const [found, setFound] = useState<{ readonly path: string; readonly data: Data; readonly meta: Meta }>();
  const [problem, setProblem] = useState<string | null>(null);
  const [count, setCount] = useState(0);
  useEffect(() => {
    const stop = new AbortController();
    read<Data>(path, stop.signal).then(
      ({ data, meta }) => {
        setFound({ path, data, meta });
        setProblem(null);
      },
      (error: Error) => !stop.signal.aborted && setProblem(error.message),
    );
    return () => stop.abort();
  }, [path, count]);
  const isCurrent = found?.path === path;
  return {
    data: isCurrent ? found.data : undefined,
    meta: isCurrent ? found.meta : {},
    latest: found,
    problem,
    again: () => setCount((before) => before + 1),
  };
}
