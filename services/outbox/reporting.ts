import { isBusy } from '../../shared/sqlite/failures.ts';

/**
 * Returns work that reports its failure, the first one in a row. The work is done again later, for example when a full disk has space. A
 * locked file is not reported here: the sender, which looks more often, reports a lock that lasts.
 */
export function reporting(failed: (error: unknown) => void, work: () => void): () => void {
  let isFailing = false;
  return () => {
    try {
      work();
      isFailing = false;
    } catch (error) {
      if (isBusy(error)) return;
      if (!isFailing) failed(error);
      isFailing = true;
    }
  };
}
