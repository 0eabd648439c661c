import type { Model, ScalarType, Uid } from '../../../schema/content-type.ts';
import type { SearchSettings } from '../../../search/search-settings.ts';
import type { FieldType } from '../../bool-query.ts';
import type { RowSet } from '../../read-index.ts';

/**
 * Layout of the documents of one content type. The same in both worlds. A *node* (type `Place`) is a row or component
 * in a document: the document's own row (the root), its components, rows embedded along relations, and so on. Below a
 * node's prefix:
 * - `f.<attribute>` value, `g.<attribute>` folded grams, `w.<attribute>` grams as written if these differ,
 *   `x.<attribute>` text form of a column of another kind;
 * - `c.<attribute>` components, `e.<attribute>` embedded rows, `t.<attribute>` keys of linked rows, on the owning side.
 * The root also has `key`, `src`, `links`, `parts`, the document's checksum `sum`, the sort fields `s.…`, and the words
 * of its texts (see `word-tokens.ts`); an embedded row has its `key`.
 */
export type DocumentLayout = {
  readonly type: Uid;
  readonly root: Place;
  /** Paths that pass a list, with a smallest and a largest value for each column at their ends. */
  readonly sortPaths: readonly SortPath[];
  /** Texts whose words are in the documents. */
  readonly words: SearchSettings;
};

export type Place = {
  /** Prefix of field names here: empty at the root, else with a dot at the end, such as `e.chef.`. */
  readonly prefix: string;
  readonly model: Model;
  /** Row set of the rows here. */
  readonly rowSet: RowSet;
  readonly kind: 'root' | 'component' | 'embedded';
  readonly scalars: ReadonlyMap<string, PlacedScalar>;
  readonly steps: ReadonlyMap<string, PlacedStep>;
};

export type PlacedScalar = {
  readonly name: string;
  readonly member: Member;
  readonly type: ScalarType;
  readonly fieldType: FieldType;
  /**
   * Text operators available here: grams as written and folded (text columns), folded ones only (short texts of rows
   * one step away), the text form as a keyword (other columns), or none.
   */
  readonly text: 'grams' | 'folded' | 'form' | 'none';
};

/** Rows or components one step away. `objectField` is the object's field name without the dot. */
export type PlacedStep = PlacedComponents | PlacedZone | PlacedRelation;

export type PlacedComponents = PlacedRows & {
  readonly kind: 'component';
  readonly attribute: string;
  readonly member: Member;
};

/** A nested list whose items have their kind in `<objectField>.kind`. */
export type PlacedZone = {
  readonly kind: 'zone';
  readonly attribute: string;
  readonly member: Member;
  readonly objectField: string;
  readonly components: ReadonlyMap<Uid, Place>;
};

export type PlacedRelation = {
  readonly kind: 'relation';
  readonly attribute: string;
  readonly member: Member;
  readonly target: Uid;
  /** The field with the targets' keys, where this side owns the links. */
  readonly linkField?: string;
  /** The owning side's attribute, where this is the inverse one. */
  readonly mappedBy?: string;
  /** Copies of the linked rows, when they are denormalised here. */
  readonly embedded?: PlacedRows;
};

/** Rows or components in a document: one object, or a nested list. */
export type PlacedRows = { readonly objectField: string; readonly list: boolean; readonly place: Place };

/** Returns the components or copies behind a step; undefined for a dynamic zone and a relation that is not copied. */
export function rowsBehind(step: PlacedStep | undefined): PlacedRows | undefined {
  if (step?.kind === 'component') return step;
  return step?.kind === 'relation' ? step.embedded : undefined;
}

export type SortPath = { readonly path: readonly string[]; readonly fields: readonly SortField[] };

/** A column at the end of a path, and the names of its two fields below `s.`. */
export type SortField = {
  readonly scalar: PlacedScalar;
  readonly low: string;
  readonly high: string;
  readonly members: { readonly low: Member; readonly high: Member };
};

/** `"name":` as in documents: computed once, not for each of them. */
export type Member = string;

/** Returns the text that begins a member of a JSON object: `"name":`. */
export function memberOf(name: string): Member {
  return `${JSON.stringify(name)}:`;
}

/**
 * Extent of copied relations in the documents of a type: `pluginOptions.varve.denormalise`, or the setting for all
 * types.
 */
export type DenormaliseSettings = {
  /** Length of chains of to-one relations. */
  readonly toOne: number;
  /** Depth of to-many relations that the type owns: 0 or 1. */
  readonly toMany: number;
  /** Additional dotted paths, of any relations and components, to copy. */
  readonly paths: readonly string[];
};

export const DEFAULT_DENORMALISE: DenormaliseSettings = Object.freeze({ toOne: 2, toMany: 1, paths: [] });

/**
 * Fields with the smallest and the largest value of a column at the ends of a path. The smallest is absent without
 * values. The largest is absent if one of them is NULL or the path ends early, which counts as greater than all
 * (SEMANTICS section 7).
 */
export function sortFieldNames(
  path: readonly string[],
  field: string,
): { readonly low: string; readonly high: string } {
  const name = [...path, field].join('/');
  return { low: `${name}:low`, high: `${name}:high` };
}
