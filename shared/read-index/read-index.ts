import type { Uid } from '../schema/content-type.ts';
import type { Answered, AnswerTerms } from '../turns/turns.ts';
import type { BoolQuery, Scalar } from './bool-query.ts';
import type { FacetCounts, FacetRequest } from './facets.ts';
import type { Nearest } from './geo-area.ts';
import type { GroupRequest, RowGroup } from './row-groups.ts';
import type { OtherWords, TextSearch, TextSearchReport } from './text-search.ts';

/**
 * Port of the read side. Projections feed it, and services/query asks it. Adapters: `embedded/` and `elasticsearch/`.
 *
 * Rows are in row sets: one per (content type, world), and one per component path below it. A type without draft & publish has one row set
 * that both worlds share; only its links differ per world. A row is named by its key: the graph's integer for rows of content types, the
 * component's id for component rows. A key is stable while the row (document, locale, version) exists, also when it is published again.
 * Keys are safe integers > 0, unique within their row set.
 */
export type World = (typeof WORLDS)[number];

/** All worlds. */
export const WORLDS = ['draft', 'published'] as const;

/** Version of a content type's rows: draft rows, published rows, or the only rows of a type without draft & publish. */
export type RowVersion = 'draft' | 'published' | 'live';

/**
 * Returns the worlds in which a type has different rows. Without draft & publish both worlds have the same rows, which the published world
 * represents.
 */
export function worldsOfType(draftAndPublish: boolean): readonly World[] {
  return draftAndPublish ? WORLDS : ['published'];
}

/** Returns the version that a type's rows have in a world. */
export function rowVersion(draftAndPublish: boolean, world: World): RowVersion {
  return draftAndPublish ? world : 'live';
}

/** A step from a content type's row into its components, such as `{attribute: 'address'}`. In a dynamic zone it has the component's uid. */
export type ComponentStep = { readonly attribute: string; readonly zoneComponent?: Uid };

/** Identifies rows: those of a content type if `path` is empty, and component rows otherwise. */
export type RowSet = {
  readonly type: Uid;
  readonly path: readonly ComponentStep[];
};

/** Values of fields; absent or null = NULL. json and blocks fields have their canonical text (`jsonText`). */
export type FieldValues = { readonly [field: string]: Scalar | null | undefined };

export type IndexedComponent = {
  readonly component: Uid;
  /** Id of the component, which is its key in its row set. */
  readonly key: number;
  /** JSON in answers (UTF-8) of id and scalars; begins with `__component` in a dynamic zone. It has no private attributes. */
  readonly source: Uint8Array;
  readonly fields: FieldValues;
  /** Components of this component by attribute, in order. */
  readonly components: { readonly [attribute: string]: readonly IndexedComponent[] };
};

export type IndexedRow = {
  /** JSON in answers (UTF-8) of id, documentId, public scalars, timestamps, locale. */
  readonly source: Uint8Array;
  /** Public scalars by attribute name, `id`, `documentId`, `createdAt`, `updatedAt`, `publishedAt`, `locale`, and the `$` fields. */
  readonly fields: FieldValues;
  readonly components: { readonly [attribute: string]: readonly IndexedComponent[] };
};

/**
 * A row appears, changes or disappears. A change replaces all its components; equal keys are the same component. If `row` is null, the row
 * disappears with its components and all links from and to them.
 */
export type RowChange = {
  readonly type: Uid;
  readonly version: RowVersion;
  readonly key: number;
  readonly row: IndexedRow | null;
};

/**
 * A link between two rows of one world appears, changes its slot, or disappears. `rowSet` and `attribute` name the owning side; the inverse
 * side (`mappedBy`) has the same links in reverse. Links of the attribute `localizations` (from a row to each other locale of its document)
 * are ordinary one-way links of localized types.
 */
export type LinkChange = {
  readonly rowSet: RowSet;
  readonly attribute: string;
  readonly world: World;
  readonly source: number;
  readonly target: number;
  /**
   * Slots of the link; null = the link is removed. `sourceOrder` sorts a source's targets, `targetOrder` a target's sources; ties by key.
   */
  readonly order: { readonly sourceOrder: number; readonly targetOrder: number } | null;
};

/** Effects of the log up to and including `position`. Rows are applied first, then links. */
export type ChangeBatch = {
  readonly position: bigint;
  readonly rows: readonly RowChange[];
  readonly links: readonly LinkChange[];
};

/** Part of an order. The last tie-break of every order is ascending `id`. */
export type SortKey = ColumnKey | NearestKey;

/**
 * Sorts by `field` of the row reached through `path` (relations or components; empty = the row itself). Through to-many, asc uses the
 * smallest value and desc the largest. NULL counts as greater than every value, and a path without rows is NULL (SEMANTICS section 7).
 * `$publication` sorts by rank.
 */
export type ColumnKey = {
  readonly path: readonly string[];
  readonly field: string;
  /** `desc-null-last`: from the largest value, with NULL after all values. */
  readonly direction: 'asc' | 'desc' | 'desc-null-last';
};

/** Sorts rows by the distance of their own place, the nearest first. Rows without a place are last. */
export type NearestKey = {
  readonly path: readonly [];
  readonly nearest: Nearest;
  readonly direction: 'asc';
};

/**
 * Position in a sort order: the value of each sort key in some row, and then that row's `id`. NULL is null, booleans are 0 and 1, dates and
 * times are milliseconds, `$publication` is its rank, a distance is a number of steps.
 */
export type SortPosition = readonly (string | number | bigint | null)[];

export type SearchRequest = {
  readonly type: Uid;
  readonly world: World;
  readonly query: BoolQuery;
  readonly sort: readonly SortKey[];
  readonly from: number;
  /** Maximum number of rows; Infinity = all. */
  readonly size: number;
  /** True to count all matches, on any page. */
  readonly withTotal: boolean;
  /**
   * Requests the first rows after a position (null: from the beginning), even if rows are added or deleted. The row at that position may no
   * longer exist. `from` must be 0 and `size` finite.
   */
  readonly cursor?: { readonly after: SortPosition | null };
  readonly answer?: AnswerScope;
  /** True if the found rows will be traversed further, for the same `answer`. */
  readonly traversed?: boolean;
  /** Keeps only rows whose texts match. */
  readonly text?: TextSearch;
  /** Counts values of all matches, on any page. */
  readonly facets?: readonly FacetRequest[];
  /** Groups all matches. `from`, `size` and the total count groups, and there is no cursor. */
  readonly groups?: GroupRequest;
};

/** Identifies the answer for which a request is made. An engine may cache its reads until the answer is complete. */
export type AnswerScope = Answered;

/** Rows of one answer, as parallel arrays. */
export type Hits = {
  /** Opaque to callers, who may pass them as `parents` of `traverse`. (In the embedded index they are ordinals.) */
  readonly rows: readonly number[];
  readonly sources: readonly Uint8Array[];
};

export const NO_HITS: Hits = Object.freeze({ rows: [], sources: [] });

export type SearchResult = {
  readonly total: number | undefined;
  readonly hits: Hits;
  /** Position of the last hit; null if no row follows it. Only with `cursor`. */
  readonly next?: SortPosition | null;
  /** Report of a search by words. Only with `text`. */
  readonly text?: TextSearchReport;
  /** For each word that `text.words` asks for, in their order. Absent: it asks for none, or some row has all words. */
  readonly words?: readonly OtherWords[];
  /** Groups of the page, whose rows are the hits in this order. Only with `groups`. */
  readonly groups?: readonly RowGroup[];
  /** Results of the requested facets, in the same order. */
  readonly facets?: readonly FacetCounts[];
};

/** A request for the rows linked to each of `parents`, for all parents in one call. */
export type TraverseRequest = {
  readonly rowSet: RowSet;
  readonly world: World;
  /** `Hits.rows` of a search or traversal in that row set and world. */
  readonly parents: readonly number[];
  /** A relation (either side), media, component or dynamic zone attribute, or `localizations`. */
  readonly attribute: string;
  /** Selects the matching targets. Dynamic zones use `zone` instead. */
  readonly query?: BoolQuery;
  /** Selects components in a dynamic zone: those of these kinds that match the query of their kind. Absent = all. */
  readonly zone?: ReadonlyMap<Uid, BoolQuery>;
  /** Sorts the rows, in place of link order. */
  readonly sort?: readonly SortKey[];
  /** Maximum number of rows over all parents together. One row more sets `exceeded`. */
  readonly limit: number;
  readonly countOnly?: boolean;
  readonly answer?: AnswerScope;
  /** True if the found rows will be traversed further too. */
  readonly traversed?: boolean;
};

export type TraverseResult = {
  /** Rows linked to each parent, in link order or by `sort`. Lists are empty when `countOnly`. */
  readonly children: readonly Hits[];
  readonly counts: readonly number[];
  /** Component uid of each child, for each parent. Only in a dynamic zone. */
  readonly zoneComponents?: readonly (readonly Uid[])[];
  readonly exceeded: boolean;
};

/** A row, and the rows to which it is linked. */
export type LinkedKeys = { readonly row: number; readonly targets: readonly number[] };

export type ReadIndex = {
  /** Resolves when every later search sees the batch. A repeated batch changes nothing. */
  apply(batch: ChangeBatch): Promise<void>;
  /** Returns the position of the last applied batch; 0n before the first. Positions start at 1n. */
  position(): bigint;
  search(request: SearchRequest): Promise<SearchResult>;
  /**
   * Runs several searches of one answer. Each result is that of `search`. Parts that the requests share are evaluated once. Rejects if one
   * of them fails.
   */
  searchMany(requests: readonly SearchRequest[]): Promise<readonly SearchResult[]>;
  traverse(request: TraverseRequest): Promise<TraverseResult>;
  /**
   * Runs `work`, which makes one answer of several searches and traversals with the given scope. An index with `local` rows gives all of
   * them one state, and runs `work` again if the state changes. Another index gives each the current state.
   */
  answer<Result>(work: (answer: AnswerScope) => Promise<Result>, terms?: AnswerTerms): Promise<Result>;
  /** Explains how a search is answered, as JSON for people: the engine's own query and the chosen strategies. Does not affect answers. */
  explain(request: SearchRequest): Promise<unknown>;
  /** Absent: the index has no rows in this process. */
  readonly local?: LocalRows;
  close(): Promise<void>;
};

/** Rows of an index in this process. */
export type LocalRows = {
  /**
   * Builds in the background what the first queries would otherwise wait for, once. Resolves when that is done or the index was closed, and
   * never rejects. No caller needs to wait for it.
   */
  warm(): Promise<void>;
  /** Returns the number of rows whose texts have changed since their words were read. Searches read them first. */
  staleRows(): number;
  /** Returns the source of the content type's row with this key, or of the row that contains the component with this key. */
  sourceAt(rowSet: RowSet, world: World, key: number): Uint8Array | undefined;
  /**
   * Returns the keys of a content type's row, and of the rows linked to it by a relation that the type owns. `key` is that of the row, or
   * of a component that it contains.
   */
  linkedAt(
    rowSet: RowSet,
    key: number,
    at: { readonly world: World; readonly attribute: string },
  ): LinkedKeys | undefined;
  /** Returns the component attributes that a change of an existing row would change. */
  changedComponents(change: RowChange): readonly string[];
};
