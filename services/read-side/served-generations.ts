import type { Generation } from '../../projections/generations/generation.ts';
import type { GenerationStore } from '../../projections/generations/generation-store.ts';
import type { ContentGraph } from '../../projections/graph/content-graph.ts';
import type { EventStore } from '../../shared/event-store/event-store.ts';
import type { IndexSet } from '../../shared/read-index/index-set.ts';
import type { ReadSide, ReadSidePlan } from './read-side.ts';

export type ServedGenerationsOptions = {
  readonly data: string;
  readonly log: EventStore;
  /** Absent: nothing is read here but the graph. */
  readonly plan: ReadSidePlan | undefined;
  /** Throws a sentence where another process writes the indices outside, as far as one that serves nothing can tell. */
  readonly refuseElsewhere?: (() => Promise<void>) | undefined;
  /** The generation that is opened. Default: the live one. */
  readonly generation?: number | undefined;
  /**
   * Has another process serve a generation in the place of this one, and with its own content types if these are to change.
   * Absent: this process serves nothing.
   */
  readonly handOver?: ((generation: number, changesTypes: boolean) => Promise<void>) | undefined;
};

/** The generations of a data directory, as the process sees them that has it. It opens one of them. */
export type ServedGenerations = {
  readonly graph: ContentGraph;
  readonly store: GenerationStore;
  /**
   * Opens the read side, once; the graph is as far as it will be shown by then. A generation that is not live yet, and has indices
   * outside the process, becomes live when this process becomes leader.
   */
  openReadSide(): Promise<ReadSide>;
  /** Opens the read side of an index in this process, before that, from a copy that is converted to other content types. */
  openConverted(copy: ContentGraph): Promise<ReadSide>;
  /** The read side that is open is of no use: another one is opened. */
  closeReadSide(): Promise<void>;
  /**
   * Opens the live generation's read side where its content types are not those in force any more: it serves what it has.
   * `indices`: those that its reads go to, whichever searches find.
   */
  openEarlier(indices: IndexSet): Promise<ReadSide>;
  /** The content types are to change: the process that serves another generation does that. */
  deferChange(): void;
  /** This process serves from now on: its generation is the live one. Removes generations that a rollback does not need. */
  enter(): void;
  /**
   * Makes a generation the live one: another process serves it. Harmless for the one that is live already. Throws a sentence where
   * that cannot be.
   */
  takeOver(number: number): Promise<Generation>;
  /** Throws a sentence where this process, as it is, can take over no generation. */
  refuseTakeOver(): void;
  /** Each generation has indices outside the process. */
  readonly hasIndicesOutside: boolean;
  /** Removes the generations that are kept. */
  drop(): Promise<readonly number[]>;
  close(): Promise<void>;
};
