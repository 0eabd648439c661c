import { existsSync } from 'node:fs';
import type { GenerationStore } from '../../projections/generations/generation-store.ts';
import type { ContentGraph } from '../../projections/graph/content-graph.ts';
import { openContentGraph } from '../../projections/graph/content-graph.ts';
import { readExistingRows } from '../../projections/graph/read/read-existing-rows.ts';
import { graphFile } from '../../projections/graph/store/generation-files.ts';
import type { StoredEvent } from '../../shared/event-store/event-store.ts';
import { createMakeRoom } from '../../shared/make-room.ts';
import type { ReadSide } from './read-side.ts';
import type { ServedGenerationsOptions } from './served-generations.ts';

/** A generation that is open in this process. */
export type OpenGeneration = {
  readonly number: number;
  readonly graph: ContentGraph;
  readonly readSide: ReadSide | undefined;
};

/** Follows the log until it is asked to stop, and is then what it was made of, as far as that is still held. */
export type KeptGeneration = { readonly graph: ContentGraph; readonly giveUp: () => Promise<HeldGeneration> };

/** `readSide`: level with the graph. */
export type HeldGeneration = Pick<OpenGeneration, 'graph' | 'readSide'>;

/** What a process knows of the generations of its data directory. */
export type GenerationState = ServedGenerationsOptions & {
  readonly store: GenerationStore;
  live: OpenGeneration;
  readonly kept: Map<number, KeptGeneration>;
  /** Has a read side write its index, or follow another process that does. */
  role: (readSide: ReadSide | undefined) => Promise<void>;
  /** Resolves once the role of the live one is taken; undefined: this process does not write. */
  leads: { readonly epoch: number; readonly ready: Promise<void> } | undefined;
  /** The live one serves by content types that are not in force any more: nothing is written until another has taken over. */
  isEarlier: boolean;
  /** Closes what served by them and is read from for a while yet. */
  closeRetired: () => Promise<void>;
  /** The generation that is being taken over. `over`: resolves when that is done, or has failed. */
  switching: { readonly number: number; readonly over: Promise<unknown> } | undefined;
  isClosed: boolean;
  onSwitch: (() => void)[];
  /** What the live graph is given while another generation is brought level with it. */
  missed: StoredEvent[] | undefined;
  /** Another generation that is given what the live one is, and that writes wait for as well. */
  joint: Joint | undefined;
};

export type Joint = {
  readonly beside: OpenGeneration;
  /** Aborted when the process leads no more, or closes. */
  readonly end: AbortController;
  /** Resolves when the other generation is written no more. */
  readonly over: Promise<void>;
};

/** Applies what follows in the log to the graph, and to the index of rows where there is one. */
export async function applyTo(
  { graph, readSide }: HeldGeneration,
  events: readonly StoredEvent[],
): Promise<void> {
  if (events.length === 0) return;
  if (readSide === undefined) graph.replay(events);
  else await readSide.sink.apply(graph.apply(events));
}

const makeRoom = createMakeRoom();

/** Does work that requests have to wait for, and then makes room for those. */
export async function gently(work: () => unknown): Promise<void> {
  const started = performance.now();
  await work();
  await makeRoom(performance.now() - started);
}

/** Opens the graph of a generation that nobody has open, beside the one that serves. */
export async function openGraphGently(
  options: ServedGenerationsOptions,
  number: number,
): Promise<ContentGraph> {
  const { data, plan } = options;
  const file = graphFile(data, number);
  // It is made of the log anew.
  if (!existsSync(file)) return openGraph(options, number);
  return openContentGraph(file, { ...plan?.graph, existing: await readExistingRows(file, makeRoom) });
}

export function openGraph({ data, plan }: ServedGenerationsOptions, number: number): ContentGraph {
  return openContentGraph(graphFile(data, number), plan?.graph);
}
