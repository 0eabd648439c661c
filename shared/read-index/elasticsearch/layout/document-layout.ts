import type { Model, ScalarType, Uid } from '../../../schema/content-type.ts';
import type { GeoColumns } from '../../../schema/search-geo.ts';
import type { SearchSettings } from '../../../search/search-settings.ts';
import type { FieldType } from '../../bool-query.ts';
import type { RowSet } from '../../read-index.ts';

/**
 * Layout of the documents of one content type. It is the same in both worlds. A *node* (type `Place`) is a row or component in a document.
 * Examples are the document's own row (the root), its components and rows embedded along relations. Below a node's prefix:
 * - `f.<attribute>` value, `g.<attribute>` folded grams, `w.<attribute>` grams as written if these differ, `x` the text forms of columns of
 *   other kinds, each after `<attribute>:`;
 * - `c.<attribute>` components, `e.<attribute>` embedded rows, `t.<attribute>` keys of linked rows, on the owning side;
 * - `u` the attributes with more than `mostCopies` linked rows, which are then not embedded.
 * - `p` the points of a content type, as in `GeoColumns`, at the root;
 * The root also has `key`, `src`, `links`, `parts`, the document's digest `sum`, the sort fields `s.…`, and the words of its texts (see
 * `word-tokens.ts`). An embedded row has its `key`.
 */
export type DocumentLayout = {
  readonly type: Uid;
  readonly root: Place;
  /** Paths that pass a list. The documents have the smallest and the largest value of each column at their ends. */
  readonly sortPaths: readonly SortPath[];
  /** Settings of the texts whose words are in the documents. */
  readonly words: SearchSettings;
  /** Columns of the points in the documents. */
  readonly points: readonly GeoColumns[];
  /** Maximum number of linked rows of which a document has copies in one list. */
  readonly mostCopies: number;
};

export type Place = {
  /** Prefix of the node's field names: empty at the root, otherwise with a dot at the end, such as `e.chef.`. */
  readonly prefix: string;
  readonly model: Model;
  /** Row set of the node's rows. */
  readonly rowSet: RowSet;
  readonly kind: 'root' | 'component' | 'embedded';
  /** The item of a shared list that has the node's fields; absent outside of dynamic zones. */
  readonly item?: SharedItem;
  readonly scalars: ReadonlyMap<string, PlacedScalar>;
  readonly steps: ReadonlyMap<string, PlacedStep>;
};

/**
 * An item of a nested list that all components of a dynamic zone share, or all lists of components in them. `mark` is the value of
 * `<list>.at`, and says which of them the item is from.
 */
export type SharedItem = { readonly list: string; readonly mark: string };

/** Returns the field with the keys of a node's rows, for nodes that are not copies. */
export function keyFieldOf({ kind, prefix, scalars }: Place): string {
  return kind === 'root' ? 'key' : `${prefix}f.${scalars.get('id')?.field}`;
}

export type PlacedScalar = {
  readonly name: string;
  /** Name of its fields: that of the attribute, or in a dynamic zone one that other components use too. */
  readonly field: string;
  readonly member: Member;
  readonly type: ScalarType;
  readonly fieldType: FieldType;
  /**
   * Fields for text operators on the column. `grams`: grams as written and folded, of text columns. `folded`: only folded grams, of strings
   * of rows one step away. `form`: the text form in `x`, of other columns. `none`: no fields.
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

/** A nested list of shared items. */
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
  /** Name of its fields, like that of a column. */
  readonly field: string;
  readonly member: Member;
  readonly target: Uid;
  /** Field with the targets' keys, if this side owns the links. In a copy it is that of the next copy, if there is a single one. */
  readonly linkField?: string;
  /** Attribute of the owning side, if this is the inverse side. */
  readonly mappedBy?: string;
  /** Copies of the linked rows, if the relation is denormalised here. */
  readonly embedded?: PlacedRows;
};

/** Rows or components in a document, as one object or a nested list. */
export type PlacedRows = { readonly objectField: string; readonly list: boolean; readonly place: Place };

/** Returns the components or copies at the end of a step; undefined for a dynamic zone and a relation that is not copied. */
export function rowsBehind(step: PlacedStep | undefined): PlacedRows | undefined {
  if (step?.kind === 'component') return step;
  return step?.kind === 'relation' ? step.embedded : undefined;
}

/**
 * Maximum number of copies in one list of a document. A document must fit several times into a tenth of a node's heap,
 * and a copy has some kilobytes.
 */
export const MOST_COPIES = 1_000;

/** Returns the field that names the lists without copies at a node. */
export function uncopiedField({ prefix }: Pick<Place, 'prefix'>): string {
  return `${prefix}u`;
}

/** Returns whether documents have copies in a list at this node. */
export function hasCopiedLists({ steps }: Pick<Place, 'steps'>): boolean {
  return [...steps.values()].some((step) => step.kind === 'relation' && step.embedded?.list === true);
}

/** Returns whether a node has a field of its own with the keys of linked rows. */
export function hasLinkKeys({ linkField, embedded }: PlacedRelation): boolean {
  return linkField !== undefined && linkField !== copiedKeyField(embedded?.objectField);
}

/** Returns the field with the keys of copied rows. */
export function copiedKeyField(objectField: string | undefined): string {
  return `${objectField}.key`;
}

export type SortPath = { readonly path: readonly string[]; readonly fields: readonly SortField[] };

/** A column at the end of a path, and the names of its two fields below `s.`. */
export type SortField = {
  readonly scalar: PlacedScalar;
  readonly low: string;
  readonly high: string;
  readonly members: { readonly low: Member; readonly high: Member };
};

/** `"name":` as in documents. It is computed once, not for each document. */
export type Member = string;

/** Returns the text that begins a member of a JSON object: `"name":`. */
export function memberOf(name: string): Member {
  return `${JSON.stringify(name)}:`;
}

/** Settings for the relations that a type's documents copy: `pluginOptions.varve.denormalise`, or the setting for all types. */
export type DenormaliseSettings = {
  /** Maximum length of chains of to-one relations. */
  readonly toOne: number;
  /** Maximum depth of to-many relations that the type owns: 0 or 1. */
  readonly toMany: number;
  /** Further dotted paths to copy, through any relations and components. */
  readonly paths: readonly string[];
};

export const DEFAULT_DENORMALISE: DenormaliseSettings = Object.freeze({ toOne: 2, toMany: 1, paths: [] });

/**
 * Returns the names of the fields with the smallest and the largest value of a column at the ends of a path. The smallest is absent if
 * there are no values. The largest is absent if a value is NULL or the path ends early, which counts as greater than all values (SEMANTICS
 * section 7).
 */
export function sortFieldNames(
  path: readonly string[],
  field: string,
): { readonly low: string; readonly high: string } {
  const name = [...path, field].join('/');
  return { low: `${name}:low`, high: `${name}:high` };
}

/** Returns the name of the field below `p` with the points of two columns. */
export function pointName({ lat, lng }: GeoColumns): string {
  return `${lat}/${lng}`;
}
