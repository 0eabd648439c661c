import { signal } from '@preact/signals';
import type { Reply, Request } from './api.ts';
import { refreshState, state } from './live.ts';
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
  const before = state.value?.rebuild?.id;
  rebuilding.value = { isRunning: true, last: null, problem: null };
  try {
    await streamOperation<ListedRebuild>(request, (last) => {
      rebuilding.value = { isRunning: true, last, problem: null };
    });
    rebuilding.value = { ...rebuilding.value, isRunning: false };
  } catch (error) {
    const isKnown = rebuilding.value.last !== null || (await hasBegun(before));
    // Another process takes over at the end, and cuts the stream off. The state then says what became of the rebuild.
    const problem = isKnown && error instanceof TypeError ? null : (error as Error).message;
    rebuilding.value = { ...rebuilding.value, isRunning: false, problem };
  }
  // The light of the page shows that the server does not answer.
  await refreshState().catch(() => {});
}

/** Notes what became of a rebuild that was paused or cancelled. A rebuild that runs reports it itself. */
export function noteInterrupted({ json }: Reply): void {
  const { data } = json as { readonly data: ListedRebuild };
  if (!rebuilding.value.isRunning) rebuilding.value = { ...rebuilding.value, last: data };
}

/** Returns whether the server has a rebuild that is not finished, or another one than before. Never rejects. */
async function hasBegun(before: number | undefined): Promise<boolean> {
  try {
    await refreshState();
  } catch {
    return false;
  }
  const { id, phase } = state.value?.rebuild ?? {};
  return id !== undefined && (id !== before || (phase !== 'done' && phase !== 'cancelled'));
}
