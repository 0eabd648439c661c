import type { DocumentName } from '../../shared/document/recorded-rows.ts';
import { documentKey } from './read-closure.ts';

type PendingBatch = {
  readonly names: readonly DocumentName[];
  done(): void;
  failed(error: unknown): void;
};

type Waiter = { resolve(): void; reject(error: unknown): void };
type Pending = { readonly name: DocumentName; readonly waiters: Waiter[] };

/** Creates a queue of documents that may differ from the source, with their waiters. A document is in the queue once. */
export function createPendingDocuments() {
  const pending = new Map<string, Pending>();
  let wake = () => {};
  const put = ({ name, waiters }: Pending) => {
    const known = pending.get(documentKey(name));
    if (known === undefined) pending.set(documentKey(name), { name, waiters });
    else known.waiters.push(...waiters);
  };
  return {
    /** Adds documents. Resolves when they were read and written after this call. Rejects if they are dropped. */
    async add(names: readonly DocumentName[]): Promise<void> {
      const all = names.map((name) => {
        const { promise, resolve, reject } = Promise.withResolvers<void>();
        put({ name, waiters: [{ resolve, reject }] });
        return promise;
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
    some: (signal: AbortSignal) =>
      new Promise<void>((resolve) => {
        if (pending.size > 0 || signal.aborted) return resolve();
        const end = () => {
          signal.removeEventListener('abort', end);
          resolve();
        };
        wake = end;
        signal.addEventListener('abort', end);
      }),
    /** Drops all documents. Their waiters get the error. */
    clear(error: Error): void {
      const all = [...pending.values()];
      pending.clear();
      for (const { waiters } of all) for (const { reject } of waiters) reject(error);
    },
  };
}
