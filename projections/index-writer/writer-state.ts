import type { Condition } from '../../shared/condition.ts';
import type { Settlement } from '../graph/stale/stale-documents.ts';
import type { Target } from '../graph/stale/stale-rows.ts';
import { onGraph } from './graph-failure.ts';
import type { Work } from './lane.ts';
import type { Refreshes } from './refreshes.ts';
import type { Suspects } from './suspects.ts';
import { oldestAwaited } from './unseen-changes.ts';
import type { WholeEdits } from './whole-edits.ts';
import type { WriterReport } from './writer-report.ts';

/** State of a writer, which its lanes share. */
export type WriterState = Work & {
  readonly options: WriterCallbacks;
  /** Condition that is checked after every change of this state. */
  readonly changed: Condition;
  /** Number of wake-ups so far. */
  wakes: number;
  stopping: boolean;
  /** Names of the lanes, or of the targets in lanes, whose documents the index does not accept now. */
  readonly stuck: Set<string>;
  written: number;
  /** Time when a document for which a write waits was last sent. */
  lastPrompt: number;
  readonly refreshes: Refreshes;
  readonly suspects: Suspects;
  /** Targets whose copies are being written, by name. */
  readonly copying: Map<string, Target>;
  readonly whole: WholeEdits;
};

/** Calls from the writer to its process. */
export type WriterCallbacks = {
  /** Called when the index stops accepting documents, and when it accepts them again. */
  readonly report: (report: WriterReport) => void;
  /** Called when the result of `shown` may have changed. */
  readonly progressed?: () => void;
  /** Returns whether the backlog should throttle for requests other than edits. */
  readonly isThrottled?: () => boolean;
};

/** Milliseconds after the last write for which the backlog is throttled. */
const THROTTLED_MS = 1_000;

/** Returns whether writes wait for documents or did a moment ago, or whether other requests have priority. */
export function isSharedWithEdits({ stale, lastPrompt, options }: WriterState): boolean {
  if (options.isThrottled?.() === true || performance.now() - lastPrompt < THROTTLED_MS) return true;
  return oldestAwaited(stale) !== undefined;
}

/** Records the outcomes of documents that were made at a position. */
export function settle(state: WriterState, position: bigint, settlements: readonly Settlement[]): void {
  if (settlements.length === 0) return;
  onGraph(() => state.stale.settle(position, settlements));
  const { parked } = state.stale;
  const refused = settlements.flatMap(({ document, refused: reason }) =>
    reason === undefined ? [] : (parked.at(document) ?? []),
  );
  state.written += settlements.length - refused.length;
  if (refused.length > 0) state.options.report({ kind: 'refused', documents: refused });
}

/** Makes the lanes end. */
export function end(state: WriterState): void {
  state.stopping = true;
  state.changed.check();
}

/** Wakes everything that waits for a change of the state. */
export function noteChange(state: WriterState): void {
  if (!state.stopping) state.options.progressed?.();
  state.changed.check();
}

/** Records that the index does not accept the documents of a lane or target, and reports the first of several. */
export function noteTrouble(state: WriterState, name: string, reason: string): void {
  const isFirst = state.stuck.size === 0;
  state.stuck.add(name);
  if (isFirst) state.options.report({ kind: 'stuck', reason });
}

/** Why documents have to be sent again. `isSuspected`: their index accepts others, so the documents themselves are the reason. */
export type WriteTrouble = { readonly reason: string; readonly isSuspected: boolean };

/** Records that the index accepts the documents of a lane or target, and reports it when there is no other trouble. */
export function noteProgress(state: WriterState, name: string): void {
  if (state.stuck.delete(name) && state.stuck.size === 0) state.options.report({ kind: 'recovered' });
}
