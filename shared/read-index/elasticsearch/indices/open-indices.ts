import type { Client } from '@elastic/elasticsearch';
import type { Uid } from '../../../schema/content-type.ts';
import type { IndexSet } from '../../index-set.ts';
import type { DocumentLayout } from '../layout/document-layout.ts';
import { writeAlias } from '../layout/index-names.ts';
import { acknowledged, isBlocked } from './acknowledged.ts';
import { createIndex, replicaSettings, signature } from './create-index.ts';
import { deleteIndices } from './delete-indices.ts';
import { firstNumberOf, type IndexSetsOptions, liveSet, numberOf } from './index-sets.ts';
import { hasFence, moveAliases } from './leader-fence.ts';
import { progressIndex } from './progress-document.ts';
import {
  type FoundIndex,
  type FoundIndices,
  findIndices,
  type IndexPlace,
  placesOf,
  readIndices,
  readNamespace,
} from './read-indices.ts';

export type OpenIndicesOptions = Omit<IndexSetsOptions, 'directory'> & {
  /** True to make every document again, even if the indices are complete. */
  readonly replaceAll: boolean;
  /** Types whose existing indices are not used any more. */
  readonly distrusted: readonly Uid[];
  /** Epoch of the leader that makes the indices. */
  readonly epoch: number;
  /** Indices that this process has made or used last. They may have been deleted since. */
  readonly known: IndexSet;
};

type ReadIndicesOptions = Omit<
  OpenIndicesOptions,
  'replaceAll' | 'distrusted' | 'spread' | 'epoch' | 'known'
>;

/** Indices of a namespace after opening. Until `promote`, reads use the existing ones. */
export type OpenedIndices = {
  /** Types whose indices are new and empty. */
  readonly toBuild: readonly Uid[];
  /** Names of these indices. */
  readonly made: readonly string[];
  /** Set to write. Reads use it after `promote`. */
  readonly set: IndexSet;
  /** True if the new indices replace others. */
  readonly replaces: boolean;
  /**
   * Switches reads to the new indices, all types at once. If another leader has raised the fence since, it does nothing and resolves to
   * false. It rejects if that leader has removed these indices.
   */
  promote(): Promise<boolean>;
  /** Removes the indices that were replaced. Call it after `promote`. */
  removeReplaced(): Promise<void>;
};

/** Makes the missing indices. An index is complete exactly when reads use it. An index that never became complete is made again. */
export async function openIndices(options: OpenIndicesOptions): Promise<OpenedIndices> {
  const { client, names, layouts, replaceAll, distrusted, log } = options;
  const known = await readNamespace(options);
  const found = findIndices(known, options);
  const leftovers = placesOf(layouts).flatMap(found).filter(isLeftover);
  // A node that has not heard of the fence may not have heard of a switch before it: what it calls a leftover may be live.
  const unused = hasFence(options.space, options.epoch, known) ? leftovers : [];
  await deleteUnblocked(
    client,
    unused.map(({ index }) => index),
  );
  await setReplicas(options);
  const missing = layouts.filter(
    (layout) => replaceAll || distrusted.includes(layout.type) || !isWhole(found, layout, log),
  );
  const whole = layouts.filter((layout) => !missing.includes(layout));
  const set: Record<string, string> = { ...liveSet(found, { names, layouts: whole }) };
  await giveWriteAliases(
    client,
    placesOf(whole).flatMap((place) => found(place).filter(({ read, written }) => read && !written)),
  );
  const built = await Promise.all(placesOf(missing).map((place) => makeNext(options, place, found(place))));
  for (const { alias, index } of built) set[alias] = index;
  const replaced = built.flatMap(({ old }) => old);
  return {
    toBuild: missing.map(({ type }) => type),
    made: built.map(({ index }) => index),
    set,
    replaces: replaced.length > 0,
    promote: () => promote(options, built),
    removeReplaced: () => deleteUnblocked(client, replaced),
  };
}

/** Returns whether searches find an index of every type and world that was made from this log and for these layouts. */
export async function haveAllIndices(options: ReadIndicesOptions): Promise<boolean> {
  const found = await readIndices(options);
  return options.layouts.every((layout) => isWhole(found, layout, options.log));
}

/** Content types without an index that can be used. */
export type UnusableTypes = {
  /** Searches find no index of these types in some world. */
  readonly missing: readonly Uid[];
  /** Searches find indices of these types that were made for other definitions, or from another log. */
  readonly outdated: readonly Uid[];
};

/** Returns the types whose indices cannot be used. */
export async function findUnusable(options: ReadIndicesOptions): Promise<UnusableTypes> {
  const found = await readIndices(options);
  const unusable = options.layouts.filter((layout) => !isWhole(found, layout, options.log));
  const isFound = (layout: DocumentLayout) =>
    placesOf([layout]).every((place) => found(place).some(({ read }) => read));
  return {
    missing: unusable.filter((layout) => !isFound(layout)).map(({ type }) => type),
    outdated: unusable.filter(isFound).map(({ type }) => type),
  };
}

function isWhole(found: FoundIndices, layout: DocumentLayout, log: string): boolean {
  const made = signature(layout, log);
  return placesOf([layout]).every((place) => found(place).some((each) => each.read && each.made === made));
}

/** Returns whether an index is a leftover: a process ended before searches found the index, or before it removed the index. */
function isLeftover({ read, kept }: FoundIndex): boolean {
  return !read && !kept;
}

type Built = { readonly alias: string; readonly index: string; readonly old: readonly string[] };

async function makeNext(
  options: OpenIndicesOptions,
  { layout, world }: IndexPlace,
  before: readonly FoundIndex[],
): Promise<Built> {
  const { names, epoch, known } = options;
  const alias = names.alias(layout.type, world);
  const old = before.filter(({ read }) => read).map((each) => each.index);
  // Processes that have not noticed a deletion read the deleted index by its name. So an empty index must not get that name.
  const deleted = numberOf(alias, known[alias] ?? '') ?? 0;
  const newest = Math.max(deleted, ...before.map((each) => each.number));
  for (let number = Math.max(newest + 1, firstNumberOf(epoch)); ; number++) {
    const index = names.index(layout.type, world, number);
    if (await createIndex(options, index, layout)) return { alias, index, old };
  }
}

/** Adds write aliases. Earlier versions of Varve wrote indices through an alias that moved. */
async function giveWriteAliases(client: Client, indices: readonly FoundIndex[]): Promise<void> {
  const actions = indices.map(({ index }) => ({ add: { index, alias: writeAlias(index) } }));
  if (actions.length > 0) await acknowledged(client.indices.updateAliases({ actions }));
}

/** Deletes indices. Leaves those that somebody has blocked: a later call deletes them. */
async function deleteUnblocked(client: Client, indices: readonly string[]): Promise<void> {
  for (const index of indices) {
    await deleteIndices(client, [index]).catch((error: unknown) => {
      if (!isBlocked(error)) throw error;
    });
  }
}

/** Sets the replicas of existing indices, except for that of the progress, which has as many as the cluster allows. */
async function setReplicas({ client, space, spread }: OpenIndicesOptions): Promise<void> {
  if (spread.replicas === undefined) return;
  await client.indices.putSettings({
    index: [`${space}-*`, `-${progressIndex(space)}`],
    settings: replicaSettings(spread.replicas),
    allow_no_indices: true,
    ignore_unavailable: true,
  });
}

function promote(options: OpenIndicesOptions, built: readonly Built[]): Promise<boolean> {
  const actions = built.flatMap(({ alias, index, old }) => [
    ...old.map((each) => ({ remove: { index: each, alias, must_exist: false } })),
    { add: { index, alias } },
  ]);
  return moveAliases(options, options.epoch, actions);
}
