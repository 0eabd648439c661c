import { signal } from '@preact/signals';
import type { Request } from './api.ts';
import { refreshState } from './live.ts';
import { streamOperation } from './operations.ts';
import type { ListedRebuild } from './server.ts';

/** The rebuild that this page has requested: it continues while the reader looks at other parts. */
export type Rebuilding = {
  readonly isRunning: boolean;
  /** Last report; null: there was none. */
  readonly last: ListedRebuild | null;
  readonly problem: string | null;
};

export const rebuilding = signal<Rebuilding>({ isRunning: false, last: null, problem: null });

/** Runs a rebuild to its end, and shows its progress. Never rejects. The end of this page interrupts it. */
export async function requestRebuild(request: Request): Promise<void> {
  rebuilding.value = { isRunning: true, last: null, problem: null };
  try {
    await streamOperation<ListedRebuild>(request, (last) => {
      rebuilding.value = { isRunning: true, last, problem: null };
    });
    rebuilding.value = { ...rebuilding.value, isRunning: false };
  } catch (error) {
    // Another process takes over at the end, and cuts the stream off. The state then says what became of the rebuild.
    const isCut = rebuilding.value.last !== null && error instanceof TypeError;
    const problem = isCut ? null : (error as Error).message;
    rebuilding.value = { ...rebuilding.value, isRunning: false, problem };
  }
  // The light of the page shows that the server does not answer.
  await refreshState().catch(() => {});
}
