import type { Generation } from '../../projections/generations/generation.ts';
import type { GenerationStore } from '../../projections/generations/generation-store.ts';
import type { ContentGraph } from '../../projections/graph/content-graph.ts';
import type { EventStore } from '../../shared/event-store/event-store.ts';
import type { ReadSide, ReadSidePlan } from './read-side.ts';

export type ServedGenerationsOptions = {
  readonly data: string;
  readonly log: EventStore;
  /** Absent: this process reads only the graph. */
  readonly plan: ReadSidePlan | undefined;
  /** Throws a message if another process writes the indices outside, as far as a process that does not serve can know. */
  readonly refuseElsewhere?: (() => Promise<void>) | undefined;
  /** The generation that is opened. Default: the live one. */
  readonly generation?: number | undefined;
  /** Ends what `handOver` has begun. Absent: this process does not serve. */
  readonly abandon?: Abandon | undefined;
  /**
   * Lets another process serve a generation instead of this one, with its own content types if these will change. Absent: this process does
   * not serve.
   */
  readonly handOver?: ((generation: number, changesTypes: boolean) => Promise<void>) | undefined;
};

/**
 * Ends a hand-over to another process while this one still serves. Rejects with a message after that. `reason`: why the generation is not
 * served. `generation`: ends only a hand-over to this generation; absent: to any.
 */
export type Abandon = (reason: string, generation?: number) => Promise<void>;

/** The generations of a data directory, for the process that holds the directory. It opens one of them. */
export type ServedGenerations = {
  readonly graph: ContentGraph;
  readonly store: GenerationStore;
  /**
   * Opens the read side. Call it once, when the graph has the position that reads will show. A generation that is not live yet, and has
   * indices outside the process, becomes live when this process becomes leader. `isRestored`: see ServedIndices; default: false.
   */
  openReadSide(isRestored?: boolean): Promise<ReadSide>;
  /** Closes the open read side. */
  closeReadSide(): Promise<void>;
  /** Called when the content types will change. The process that serves the next generation changes them. */
  deferChange(): void;
  /** Called when this process begins to serve: its generation becomes live. */
  enter(): void;
  /**
   * Removes the generations that a rollback does not need, and resolves to their numbers. Call it after `enter`. If this process was
   * replaced, its own generation is the one for a rollback.
   */
  removeOlder(): Promise<readonly number[]>;
  /**
   * Makes a generation live: another process serves it. Does nothing if it is already live. Throws a message if this is not possible, and
   * LeaderElsewhere if another process has become the leader, even if this one is the leader again.
   */
  takeOver(number: number): Promise<Generation>;
  /** Ends a switch that has not replaced this process yet. Rejects with a message if it has begun to. */
  abandon: Abandon;
  /** Returns whether this process is switching over to another generation. */
  isSwitching(): boolean;
  /** Resolves when `enter` was called. */
  readonly entered: Promise<void>;
  /** Throws a message if this process cannot switch over to any generation at the moment. */
  refuseTakeOver(): void;
  /** True if each generation has indices outside the process. */
  readonly hasIndicesOutside: boolean;
  /** Removes the generations that are kept. Throws a message during a switch to another generation. */
  drop(): Promise<readonly number[]>;
  close(): Promise<void>;
};
