import type { BoolQuery } from '../../shared/read-index/bool-query.ts';
import type { SortKey } from '../../shared/read-index/read-index.ts';
import type { Uid } from '../../shared/schema/content-type.ts';

/** The parts of a row, and of its populated rows, that an answer shows. */
export type Selection = {
  /** Members of the source to show; null: all. */
  readonly fields: ReadonlySet<string> | null;
  readonly populate: readonly PopulateNode[];
};

/** One attribute to populate, for all rows of a level together. */
export type PopulateNode = PopulatedLink | PopulatedZone;

export type PopulatedLink = {
  readonly kind: 'relation' | 'component';
  readonly attribute: string;
  readonly target: Uid;
  /** False: the attribute shows one row, or null. */
  readonly toMany: boolean;
  readonly query: BoolQuery;
  /** Empty: link order. */
  readonly sort: readonly SortKey[];
  /** `{"count": n}` instead of the rows. */
  readonly countOnly: boolean;
  readonly selection: Selection;
};

export type PopulatedZone = {
  readonly kind: 'zone';
  readonly attribute: string;
  /** Components of other kinds are omitted. */
  readonly components: ReadonlyMap<Uid, { readonly query: BoolQuery; readonly selection: Selection }>;
};

export const WHOLE_ROW: Selection = Object.freeze({ fields: null, populate: [] });
