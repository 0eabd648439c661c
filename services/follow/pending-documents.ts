import type { DocumentName } from '../../shared/document/recorded-rows.ts';
import { documentKey } from './read-closure.ts';

type PendingBatch = {
  readonly names: readonly DocumentName[];
  done(): void;
  failed(error: unknown): void;
};

type Waiter = { resolve(): void; reject(error: unknown): void };
type Pending = { readonly name: DocumentName; readonly waiters: Waiter[] };

/** Creates a queue of documents that may not be as the source has them, each once however often it was added, and who waits for them. */
export function createPendingDocuments() {
  const pending = new Map<string, Pending>();
  let wake = () => {};
  const put = ({ name, waiters }: Pending) => {
    const known = pending.get(documentKey(name));
    if (known === undefined) pending.set(documentKey(name), { name, waiters });
    else known.waiters.push(...waiters);
  };
  return {
    /** Resolves when the documents were read and written after this call. Rejects when they were given up. */
    async add(names: readonly DocumentName[]): Promise<void> {
      const all = names.map((name) => {
        const { promise, resolve, reject } = Promise.withResolvers<void>();
        put({ name, waiters: [{ resolve, reject }] });
        return promise;
      });
      wake();
      await Promise.all(all);
    },
    /** Takes up to `most` documents of one type out. */
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
    /** Resolves when there is something to take, or the signal is aborted. */
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
    /** Gives everything up. */
    clear(error: Error): void {
      const all = [...pending.values()];
      pending.clear();
      for (const { waiters } of all) for (const { reject } of waiters) reject(error);
    },
  };
}
