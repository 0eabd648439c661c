import type { DocumentName } from '../../shared/document/recorded-rows.ts';
import { valueAt } from '../../shared/map-values.ts';
import { untilAborted } from '../../shared/until-aborted.ts';
import { documentKey } from './read-closure.ts';

type PendingBatch = {
  readonly names: readonly DocumentName[];
  done(): void;
  failed(error: unknown): void;
};

type Pending = { readonly name: DocumentName; readonly waiters: PromiseWithResolvers<void>[] };

/** Creates a queue of documents that may differ from the source, with their waiters. A document is in the queue once. */
export function createPendingDocuments() {
  const pending = new Map<string, Pending>();
  let wake = () => {};
  return {
    /** Adds documents. Resolves when they were read and written after this call. Rejects if they are dropped. */
    async add(names: readonly DocumentName[]): Promise<void> {
      const all = names.map((name) => {
        const waiter = Promise.withResolvers<void>();
        valueAt(pending, documentKey(name), () => ({ name, waiters: [] })).waiters.push(waiter);
        return waiter.promise;
      });
      wake();
      await Promise.all(all);
    },
    /** Removes up to `most` documents of one type from the queue and returns them. */
    take(most: number): PendingBatch | undefined {
      const [first] = pending.values();
      if (first === undefined) return undefined;
      const taken = [...pending.values()].filter(({ name }) => name.type === first.name.type).slice(0, most);
      for (const { name } of taken) pending.delete(documentKey(name));
      const waiters = taken.flatMap((one) => one.waiters);
      return {
        names: taken.map(({ name }) => name),
        done() {
          for (const { resolve } of waiters) resolve();
        },
        failed(error) {
          for (const { reject } of waiters) reject(error);
        },
      };
    },
    size: () => pending.size,
    /** Resolves when the queue has documents, or when the signal is aborted. */
    async some(signal: AbortSignal): Promise<void> {
      if (pending.size > 0) return;
      const added = Promise.withResolvers<void>();
      wake = added.resolve;
      await untilAborted(added.promise, signal);
    },
    /** Drops all documents. Their waiters get the error. */
    clear(error: Error): void {
      const all = [...pending.values()];
      pending.clear();
      for (const { waiters } of all) for (const { reject } of waiters) reject(error);
    },
  };
}
