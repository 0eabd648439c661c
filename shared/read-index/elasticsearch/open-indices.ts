import { createHash } from 'node:crypto';
import type { Client } from '@elastic/elasticsearch';
import type { Uid } from '../../schema/content-type.ts';
import type { World } from '../read-index.ts';
import type { DocumentLayout } from './document-layout.ts';
import { indexDefinition } from './index-definition.ts';
import type { IndexNames } from './index-names.ts';
import { progressIndex } from './progress-document.ts';

export type OpenIndicesOptions = {
  readonly client: Client;
  readonly names: IndexNames;
  readonly space: string;
  readonly layouts: readonly DocumentLayout[];
  /** Names the log that documents are made from: indices made from another one are not used. */
  readonly log: string;
  /** Every document is to be made anew, whatever the indices hold. */
  readonly anew: boolean;
  readonly spread: IndexSpread;
};

/** Over the nodes of a cluster. */
export type IndexSpread = {
  /** Of an index that is made from now on: those that there are keep theirs until they are made anew. */
  readonly shards: number;
  /** Copies beside the primary, of all indices; undefined: none for new ones, and the others as they are. */
  readonly replicas: number | undefined;
};

/** The indices of a space. Until `promote` reads go to the generation there was, and writes to the one that is to be. */
export type OpenedIndices = {
  /** Types with a new, empty generation. */
  readonly toBuild: readonly Uid[];
  /** Lets reads see the new generation, all types at once, and removes the old one. */
  promote(): Promise<void>;
};

/** Counts up when the same row and layout give another document than before. */
const DOCUMENT_FORMAT = 1;
const WORLDS: readonly World[] = ['draft', 'published'];

/** An index of one type and world, as found. `read`: searches go to it. */
type Generation = {
  readonly index: string;
  readonly number: number;
  readonly made: string;
  readonly read: boolean;
};
type Place = { readonly layout: DocumentLayout; readonly world: World };

/** Where documents are written: to the newest generation, whole or not. */
export function writeAlias(names: IndexNames, type: Uid, world: World): string {
  return `${names.alias(type, world)}-write`;
}

/** Makes what is missing. An index is whole exactly when reads go to it; one that never came to that is made again. */
export async function openIndices(options: OpenIndicesOptions): Promise<OpenedIndices> {
  const { layouts, anew, log } = options;
  const generations = await readGenerations(options);
  await setReplicas(options);
  const missing = layouts.filter((layout) => anew || !isWhole(generations, layout, log));
  const places = missing.flatMap((layout) => WORLDS.map((world) => ({ layout, world })));
  const built = await Promise.all(places.map((place) => nextGeneration(options, place, generations(place))));
  return {
    toBuild: missing.map(({ type }) => type),
    promote: () => promote(options.client, built),
  };
}

/** Whether searches find an index of every type and world that was made from this log, as these layouts say. */
export async function areWhole(options: Omit<OpenIndicesOptions, 'anew' | 'spread'>): Promise<boolean> {
  const generations = await readGenerations(options);
  return options.layouts.every((layout) => isWhole(generations, layout, options.log));
}

type Generations = (place: Place) => readonly Generation[];

function isWhole(generations: Generations, layout: DocumentLayout, log: string): boolean {
  const made = signature(layout, log);
  return WORLDS.every((world) =>
    generations({ layout, world }).some((found) => found.read && found.made === made),
  );
}

type Built = { readonly alias: string; readonly index: string; readonly old: readonly string[] };

async function nextGeneration(
  { client, names, log, spread }: OpenIndicesOptions,
  { layout, world }: Place,
  before: readonly Generation[],
): Promise<Built> {
  const givenUp = before.filter(({ read }) => !read).map(({ index }) => index);
  if (givenUp.length > 0) await client.indices.delete({ index: givenUp });
  const number = Math.max(0, ...before.map((each) => each.number)) + 1;
  const index = names.index(layout.type, world, number);
  const { settings, mappings } = indexDefinition(layout) as { settings: object; mappings: object };
  const mapped = { ...mappings, _meta: { varve: signature(layout, log) } };
  const old = before.filter(({ read }) => read).map((each) => each.index);
  const alias = writeAlias(names, layout.type, world);
  const aliases = old.length === 0 ? { [alias]: {} } : {};
  const spreadOver = { number_of_shards: spread.shards, number_of_replicas: spread.replicas ?? 0 };
  await client.indices.create({
    index,
    settings: { ...settings, ...spreadOver },
    mappings: mapped,
    aliases,
  });
  // Two indices of one alias would take no writes: it moves in one call.
  if (old.length > 0) await moveAlias(client, alias, old, index);
  return { alias: names.alias(layout.type, world), index, old };
}

/** Of the indices that there are, the one of the progress aside, which has as many as the cluster lets it. */
async function setReplicas({ client, space, spread }: OpenIndicesOptions): Promise<void> {
  if (spread.replicas === undefined) return;
  await client.indices.putSettings({
    index: [`${space}-*`, `-${progressIndex(space)}`],
    settings: { number_of_replicas: spread.replicas },
    allow_no_indices: true,
    ignore_unavailable: true,
  });
}

async function moveAlias(client: Client, alias: string, from: readonly string[], to: string): Promise<void> {
  await client.indices.updateAliases({
    actions: [
      ...from.map((index) => ({ remove: { index, alias, must_exist: false } })),
      { add: { index: to, alias } },
    ],
  });
}

/** All in one call: no search sees a part of it. */
async function promote(client: Client, built: readonly Built[]): Promise<void> {
  if (built.length === 0) return;
  await client.indices.updateAliases({
    actions: built.flatMap(({ alias, index, old }) => [
      ...old.map((each) => ({ remove: { index: each, alias } })),
      { add: { index, alias } },
    ]),
  });
  const gone = built.flatMap(({ old }) => old);
  if (gone.length > 0) await client.indices.delete({ index: gone });
}

/** The indices that there are, by place. */
async function readGenerations({
  client,
  names,
  space,
}: Pick<OpenIndicesOptions, 'client' | 'names' | 'space'>): Promise<Generations> {
  const found = await client.indices.get({
    index: `${space}-*`,
    filter_path: ['*.aliases', '*.mappings._meta'],
    expand_wildcards: 'all',
  });
  return ({ layout: { type }, world }) => {
    const alias = names.alias(type, world);
    return Object.entries(found).flatMap(([index, { aliases, mappings }]) => {
      const number = Number(index.slice(alias.length + 1));
      if (!Number.isInteger(number) || index !== names.index(type, world, number)) return [];
      const made = String(mappings?._meta?.['varve']);
      return [{ index, number, made, read: aliases?.[alias] !== undefined }];
    });
  };
}

/** What an index holds, in short: equal for equal documents and mappings. */
function signature(layout: DocumentLayout, log: string): string {
  const text = JSON.stringify([DOCUMENT_FORMAT, log, indexDefinition(layout)]);
  return createHash('sha256').update(text).digest('hex');
}
