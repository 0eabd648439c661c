import type { Client } from '@elastic/elasticsearch';
import { addToList } from '../../../map-values.ts';
import type { Uid } from '../../../schema/content-type.ts';
import type { IndexSet } from '../../index-set.ts';
import type { World } from '../../read-index.ts';
import type { DocumentLayout } from '../layout/document-layout.ts';
import { createIndexNames, type IndexNames, keptAlias, setAlias, writeAlias } from '../layout/index-names.ts';
import { type CreateIndexOptions, createIndex, signature } from './create-index.ts';
import { createLeaderFence, moveAliases } from './leader-fence.ts';
import { type FoundIndices, placesOf, readIndices } from './read-indices.ts';

export type IndexSetsOptions = CreateIndexOptions & {
  readonly names: IndexNames;
  readonly space: string;
  readonly layouts: readonly DocumentLayout[];
  /** Identity of the data directory whose generations the sets are. */
  readonly directory: string;
};

/** Part to rebuild; absent members: everything. */
export type SetScope = { readonly type?: Uid; readonly world?: World };

/** Index sets of a namespace. The aliases of its types name the live one. */
export type IndexSets = {
  /** Returns the set that searches find now. */
  live(): Promise<IndexSet>;
  /** Returns the names of a new set: new indices within the scope, and the live ones outside of it. Creates nothing. */
  plan(scope: SetScope): Promise<IndexSet>;
  /** Creates the missing indices, which are empty. Keeps those of a previous attempt. */
  make(set: IndexSet): Promise<void>;
  /** Returns whether the set is complete and was made from this log for these content types. */
  fits(set: IndexSet): Promise<boolean>;
  /**
   * Switches the aliases to this set in one call. Keeps the previous set. Returns false and does nothing if another epoch has raised the
   * fence since.
   */
  promote(set: IndexSet, epoch: number): Promise<boolean>;
};

/** Creates the sets of a namespace. Every call asks the cluster; nothing is cached. */
export function createIndexSets(options: IndexSetsOptions): IndexSets {
  const { client, names, space, layouts, directory } = options;
  const building = setAlias(space, 'building', directory);
  const previous = setAlias(space, 'previous', directory);
  const places = placesOf(layouts);
  const aliasOf = ({ layout, world }: (typeof places)[number]) => names.alias(layout.type, world);
  const live = async () => liveSet(await readIndices(options), options);
  return {
    live,
    async plan({ type, world }) {
      const found = await readIndices(options);
      const newest = Math.max(0, ...places.flatMap(found).map((each) => each.number));
      const number = Math.max(newest + 1, firstNumberOf(await createLeaderFence(client, space).newest()));
      const now = liveSet(found, options);
      return Object.fromEntries(
        places.map((place) => {
          const isAsked =
            (type ?? place.layout.type) === place.layout.type && (world ?? place.world) === place.world;
          const index = names.index(place.layout.type, place.world, number);
          return [aliasOf(place), isAsked ? index : (now[aliasOf(place)] ?? index)];
        }),
      );
    },
    async make(set) {
      const found = await readIndices(options);
      const missing = places.filter((place) => {
        const there = found(place).find(({ index }) => index === set[aliasOf(place)]);
        if (there === undefined) return true;
        if (there.read) return false;
        if (there.made !== signature(place.layout, options.log))
          throw new Error(`the index ${there.index} was made for other content types: cancel the rebuild`);
        if (!there.marks.includes(building))
          throw new Error(`the index ${there.index} belongs to another process: cancel the rebuild`);
        return false;
      });
      await Promise.all(
        missing.map((place) =>
          createIndex(options, set[aliasOf(place)] as string, place.layout, [keptAlias(space), building]),
        ),
      );
    },
    async fits(set) {
      const found = await readIndices(options);
      return places.every((place) => {
        const there = found(place).find(({ index }) => index === set[aliasOf(place)]);
        return there?.made === signature(place.layout, options.log);
      });
    },
    async promote(set, epoch) {
      const before = await live();
      const actions = Object.entries(set).flatMap(([alias, index]) => {
        const old = before[alias];
        if (old === index) return [];
        return [
          { add: { index, alias } },
          { remove: { index, alias: keptAlias(space), must_exist: false } },
          { remove: { index, alias: building, must_exist: false } },
          { remove: { index, alias: previous, must_exist: false } },
          { add: { index, alias: writeAlias(index) } },
          ...(old === undefined
            ? []
            : [
                { remove: { index: old, alias } },
                { add: { index: old, alias: keptAlias(space) } },
                { add: { index: old, alias: previous } },
              ]),
        ];
      });
      return moveAliases(options, epoch, actions);
    },
  };
}

/**
 * Returns the first number of indices that a process may make while this epoch is the newest. An index of an earlier epoch never has it, so a
 * process that was the leader before cannot mistake another's index for its own, even if its own was deleted.
 */
export function firstNumberOf(epoch: number): number {
  return 1 + Math.max(0, epoch - 1) * NUMBERS_OF_EPOCH;
}

const NUMBERS_OF_EPOCH = 1_000;

/**
 * Returns the live indices of a namespace, by their aliases. Leaves out an alias that somebody gave to several indices, or to one with a
 * name that is none of Varve's.
 */
export async function readLiveSet(
  client: Client,
  space: string,
  aliases: ReadonlySet<string>,
): Promise<IndexSet> {
  const found: AliasesByIndex = await client.indices.getAlias({ name: `${space}-*` });
  const named = new Map<string, string[]>();
  for (const [index, { aliases: has = {} }] of Object.entries(found)) {
    for (const alias of Object.keys(has)) if (aliases.has(alias)) addToList(named, alias, index);
  }
  return Object.fromEntries(
    [...named].flatMap(([alias, [index = '', ...others]]) =>
      others.length === 0 && numberOf(alias, index) !== undefined ? [[alias, index]] : [],
    ),
  );
}

/** Returns whether all indices of this set are live. */
export async function isLiveSet(client: Client, space: string, set: IndexSet): Promise<boolean> {
  const live = await readLiveSet(client, space, new Set(Object.keys(set)));
  return Object.entries(set).every(([alias, index]) => live[alias] === index);
}

/** Returns a function that says whether the set's index for a type and world is not the live one. */
export async function ownIndices(
  client: Client,
  space: string,
  set: IndexSet,
): Promise<(type: Uid, world: World) => boolean> {
  const live = await readLiveSet(client, space, new Set(Object.keys(set)));
  const names = createIndexNames(space);
  return (type, world) => {
    const alias = names.alias(type, world);
    return set[alias] !== live[alias];
  };
}

/** Returns the number of an index of this alias; undefined: the name is none of Varve's. */
export function numberOf(alias: string, index: string): number | undefined {
  const number = Number(index.slice(alias.length + 1));
  return index.startsWith(`${alias}-`) && Number.isInteger(number) ? number : undefined;
}

type AliasesByIndex = { readonly [index: string]: { readonly aliases?: object } };

/** Returns the indices of layouts that searches find, by their aliases. */
export function liveSet(
  found: FoundIndices,
  { names, layouts }: Pick<IndexSetsOptions, 'names' | 'layouts'>,
): IndexSet {
  return Object.fromEntries(
    placesOf(layouts).flatMap((place) => {
      const index = found(place).find(({ read }) => read)?.index;
      return index === undefined ? [] : [[names.alias(place.layout.type, place.world), index]];
    }),
  );
}
