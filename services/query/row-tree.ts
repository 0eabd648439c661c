/** Rows of one level of an answer with everything that `populate` adds, read from the index and ready to be written. */
export type RowTree = {
  /** Response JSON of each distinct row, without populated attributes. */
  readonly sources: readonly Uint8Array[];
  /** Row at every position of the level; null if each row is at its own position. */
  readonly places: readonly number[] | null;
  readonly attributes: readonly PopulatedAttribute[];
};

/** A populated attribute of all rows of a level. */
export type PopulatedAttribute = {
  /** `,"attribute":` */
  readonly name: Uint8Array;
  readonly value: PopulatedValue;
};

export type PopulatedValue =
  | { readonly kind: 'counts'; readonly counts: readonly number[] }
  | {
      readonly kind: 'rows';
      /** False: the attribute shows one row, or null. */
      readonly toMany: boolean;
      /** The entries of a row are at the positions of `tree` from `starts[row]` to before `starts[row + 1]`. */
      readonly starts: readonly number[];
      readonly tree: RowTree;
    }
  | {
      readonly kind: 'zone';
      /** The components of a row are at the positions of `components` from `starts[row]` to before `starts[row + 1]`. */
      readonly starts: readonly number[];
      readonly components: readonly ZoneEntry[];
    };

/** A component of a dynamic zone: the tree of the rows of its kind, and its position in that tree. */
export type ZoneEntry = { readonly tree: RowTree; readonly place: number };
