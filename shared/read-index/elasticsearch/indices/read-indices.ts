import type { Client, estypes } from '@elastic/elasticsearch';
import { WORLDS, type World } from '../../read-index.ts';
import type { DocumentLayout } from '../layout/document-layout.ts';
import { type IndexNames, keptAlias, writeAlias } from '../layout/index-names.ts';

/** The layout and world of an index. */
export type IndexPlace = { readonly layout: DocumentLayout; readonly world: World };

/** An existing index of one type and world. */
export type FoundIndex = {
  readonly index: string;
  readonly number: number;
  /** Signature for which it was made (see `signature`). */
  readonly made: string;
  /** True if searches find it. */
  readonly read: boolean;
  /** True if it has the alias for writes. */
  readonly written: boolean;
  /** True if it belongs to a generation that is being built or is kept, so it is not a leftover. */
  readonly kept: boolean;
  /** All its aliases. */
  readonly marks: readonly string[];
};

/** Returns the existing indices for a layout and world. */
export type FoundIndices = (place: IndexPlace) => readonly FoundIndex[];

/** Indices of a namespace by their names, with their aliases. */
export type Namespace = estypes.IndicesGetResponse;

type Where = { readonly client: Client; readonly names: IndexNames; readonly space: string };

/** Reads the existing indices of a namespace. */
export async function readIndices(where: Where): Promise<FoundIndices> {
  return findIndices(await readNamespace(where), where);
}

/** Reads all that a node knows about the indices of a namespace. The node may not have heard of the last changes. */
export function readNamespace({ client, space }: Pick<Where, 'client' | 'space'>): Promise<Namespace> {
  return client.indices.get({
    index: `${space}-*`,
    filter_path: ['*.aliases', '*.mappings._meta'],
    expand_wildcards: 'all',
  });
}

/** Finds the indices of types and worlds in what a node knows. */
export function findIndices(found: Namespace, { names, space }: Omit<Where, 'client'>): FoundIndices {
  return ({ layout: { type }, world }) => {
    const alias = names.alias(type, world);
    return Object.entries(found).flatMap(([index, { aliases, mappings }]) => {
      const number = Number(index.slice(alias.length + 1));
      if (!Number.isInteger(number) || index !== names.index(type, world, number)) return [];
      const made = String(mappings?._meta?.['varve']);
      const kept = aliases?.[keptAlias(space)] !== undefined;
      const read = aliases?.[alias] !== undefined;
      const written = aliases?.[writeAlias(index)] !== undefined;
      return [{ index, number, made, read, written, kept, marks: Object.keys(aliases ?? {}) }];
    });
  };
}

/** Returns all pairs of layouts and worlds. */
export function placesOf(layouts: Iterable<DocumentLayout>): readonly IndexPlace[] {
  return [...layouts].flatMap((layout) => WORLDS.map((world) => ({ layout, world })));
}
