import type { Client } from '@elastic/elasticsearch';
import type { Uid } from '../../../schema/content-type.ts';
import type { IndexSet } from '../../index-set.ts';
import type { DocumentLayout } from '../layout/document-layout.ts';
import { type IndexNames, writeAlias } from '../layout/index-names.ts';
import { createIndex, type IndexSpread, signature } from './create-index.ts';
import { deleteIndices } from './delete-indices.ts';
import { fenceActions, isLeaderFenced } from './leader-fence.ts';
import { progressIndex } from './progress-document.ts';
import {
  type FoundIndex,
  type FoundIndices,
  type IndexPlace,
  placesOf,
  readIndices,
} from './read-indices.ts';
import { tagsIndex } from './tags-document.ts';

export type OpenIndicesOptions = {
  readonly client: Client;
  readonly names: IndexNames;
  readonly space: string;
  readonly layouts: readonly DocumentLayout[];
  /** Log that documents are made from: indices made from another one are not used. */
  readonly log: string;
  /** True to make every document again, whatever the indices have. */
  readonly replaceAll: boolean;
  /** Epoch of the leader that makes them. */
  readonly epoch: number;
  readonly spread: IndexSpread;
};

/** Indices of a namespace. Until `promote`, reads use the existing ones. */
export type OpenedIndices = {
  /** Types with new, empty indices. */
  readonly toBuild: readonly Uid[];
  /** Set to write; it is read after it is promoted. */
  readonly set: IndexSet;
  /**
   * Switches reads to the new indices, all types at once, and removes those that they replace. Does nothing if another
   * leader has raised the fence since.
   */
  promote(): Promise<void>;
};

/**
 * Makes the missing indices. An index is complete exactly when reads use it; one that never became complete is made
 * again.
 */
export async function openIndices(options: OpenIndicesOptions): Promise<OpenedIndices> {
  const { client, names, layouts, replaceAll, log } = options;
  const found = await readIndices(options);
  await setReplicas(options);
  const missing = layouts.filter((layout) => replaceAll || !isWhole(found, layout, log));
  const whole = placesOf(layouts.filter((layout) => !missing.includes(layout)));
  const set: Record<string, string> = {};
  for (const place of whole) {
    const index = found(place).find(({ read }) => read)?.index;
    if (index !== undefined) set[names.alias(place.layout.type, place.world)] = index;
  }
  await giveWriteAliases(client, Object.values(set));
  const built = await Promise.all(placesOf(missing).map((place) => makeNext(options, place, found(place))));
  for (const { alias, index } of built) set[alias] = index;
  return { toBuild: missing.map(({ type }) => type), set, promote: () => promote(options, built) };
}

/** Returns whether searches find an index of every type and world that was made from this log and for these layouts. */
export async function haveAllIndices(
  options: Omit<OpenIndicesOptions, 'replaceAll' | 'spread' | 'epoch'>,
): Promise<boolean> {
  const found = await readIndices(options);
  return options.layouts.every((layout) => isWhole(found, layout, options.log));
}

function isWhole(found: FoundIndices, layout: DocumentLayout, log: string): boolean {
  const made = signature(layout, log);
  return placesOf([layout]).every((place) => found(place).some((each) => each.read && each.made === made));
}

type Built = { readonly alias: string; readonly index: string; readonly old: readonly string[] };

async function makeNext(
  options: OpenIndicesOptions,
  { layout, world }: IndexPlace,
  before: readonly FoundIndex[],
): Promise<Built> {
  const { client, names } = options;
  const leftovers = before.filter(({ read, kept }) => !read && !kept).map(({ index }) => index);
  await deleteIndices(client, leftovers);
  const number = Math.max(0, ...before.map((each) => each.number)) + 1;
  const index = names.index(layout.type, world, number);
  await createIndex(options, index, layout);
  const old = before.filter(({ read }) => read).map((each) => each.index);
  return { alias: names.alias(layout.type, world), index, old };
}

/** Indices of an earlier version of Varve were written through an alias that moved. */
async function giveWriteAliases(client: Client, indices: readonly string[]): Promise<void> {
  const actions = indices.map((index) => ({ add: { index, alias: writeAlias(index) } }));
  if (actions.length > 0) await client.indices.updateAliases({ actions });
}

/**
 * Sets the replicas of existing indices, except for those of the progress and the tags, which have as many as the cluster allows.
 */
async function setReplicas({ client, space, spread }: OpenIndicesOptions): Promise<void> {
  if (spread.replicas === undefined) return;
  await client.indices.putSettings({
    index: [`${space}-*`, `-${progressIndex(space)}`, `-${tagsIndex(space)}`],
    settings: { number_of_replicas: spread.replicas },
    allow_no_indices: true,
    ignore_unavailable: true,
  });
}

/** All in one call: no search sees a part of it. */
async function promote({ client, space, epoch }: OpenIndicesOptions, built: readonly Built[]): Promise<void> {
  if (built.length === 0) return;
  const actions = built.flatMap(({ alias, index, old }) => [
    ...old.map((each) => ({ remove: { index: each, alias } })),
    { add: { index, alias } },
  ]);
  try {
    await client.indices.updateAliases({ actions: [...fenceActions(space, epoch), ...actions] });
  } catch (error) {
    if (isLeaderFenced(error)) return;
    throw error;
  }
  await deleteIndices(
    client,
    built.flatMap(({ old }) => old),
  );
}
