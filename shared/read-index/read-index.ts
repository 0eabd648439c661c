import type { Uid } from '../schema/content-type.ts';
import type { Answered, AnswerTerms } from '../turns/turns.ts';
import type { BoolQuery, Scalar } from './bool-query.ts';
import type { FacetCounts, FacetRequest } from './facets.ts';
import type { TextSearch, TextSearchReport } from './text-search.ts';

/**
 * Port of the read side. Projections feed it and services/query asks it. Adapters: `embedded/` and `elasticsearch/`.
 *
 * Rows are in row sets: one per (content type, world), and one per component path below it. A type without draft &
 * publish has one that both worlds share; only its links differ per world. A row is named by its key: the graph's
 * integer for rows of content types, the component's id for component rows. A key is stable while the row (document,
 * locale, version) exists, also when it is published again. Keys are safe integers > 0, unique within their row set.
 */
export type World = (typeof WORLDS)[number];

/** All of them. */
export const WORLDS = ['draft', 'published'] as const;

/** Rows of a content type: draft rows, published rows, or the only rows of a type without draft & publish. */
export type RowVersion = 'draft' | 'published' | 'live';

/** Worlds that differ for a type: without draft & publish it has the same rows in both, and is named by the published one. */
export function worldsOfType(draftAndPublish: boolean): readonly World[] {
  return draftAndPublish ? WORLDS : ['published'];
}

/** The version that a type's rows have in a world. */
export function rowVersion(draftAndPublish: boolean, world: World): RowVersion {
  return draftAndPublish ? world : 'live';
}

/** One step from a content type's row into its components: `{attribute: 'address'}`; in a dynamic zone with the component's uid. */
export type ComponentStep = { readonly attribute: string; readonly zoneComponent?: Uid };

/** Content type rows when `path` is empty, else component rows. */
export type RowSet = {
  readonly type: Uid;
  readonly path: readonly ComponentStep[];
};

/** A value of a field: absent or null = NULL. json and blocks fields hold their canonical text (`jsonText`). */
export type FieldValues = { readonly [field: string]: Scalar | null | undefined };

export type IndexedComponent = {
  readonly component: Uid;
  /** Id of the component: its key in its row set. */
  readonly key: number;
  /** Response JSON (UTF-8) of id and scalars; begins with `__component` in a dynamic zone. Private attributes are not in it. */
  readonly source: Uint8Array;
  readonly fields: FieldValues;
  /** Components of this component by attribute, in order. */
  readonly components: { readonly [attribute: string]: readonly IndexedComponent[] };
};

export type IndexedRow = {
  /** Response JSON (UTF-8) of id, documentId, public scalars, timestamps, locale. */
  readonly source: Uint8Array;
  /** Public scalars by attribute name, `id`, `documentId`, `createdAt`, `updatedAt`, `publishedAt`, `locale`, and the `$` fields. */
  readonly fields: FieldValues;
  readonly components: { readonly [attribute: string]: readonly IndexedComponent[] };
};

/** A row appears, changes (its components are replaced as a whole, equal keys are the same component), or disappears (`row: null`, with its components and all links from and to them). */
export type RowChange = {
  readonly type: Uid;
  readonly version: RowVersion;
  readonly key: number;
  readonly row: IndexedRow | null;
};

/**
 * A link between two rows of one world appears, changes its slot, or disappears. `rowSet` + `attribute` name the owning
 * side; the inverse side (`mappedBy`) is the same links read backwards. Links of the attribute `localizations` (a row
 * to each other locale of its document) are ordinary one-way links of localized types.
 */
export type LinkChange = {
  readonly rowSet: RowSet;
  readonly attribute: string;
  readonly world: World;
  readonly source: number;
  readonly target: number;
  /**
   * null = the link is removed. `sourceOrder` sorts a source's targets, `targetOrder` a target's sources; ties by key.
   */
  readonly order: { readonly sourceOrder: number; readonly targetOrder: number } | null;
};

/** Effects of the log up to and including `position`. Applied in order: rows, then links. */
export type ChangeBatch = {
  readonly position: bigint;
  readonly rows: readonly RowChange[];
  readonly links: readonly LinkChange[];
};

/**
 * Sorts by `field` of the row reached through `path` (relations or components; empty = the row itself). Through
 * to-many, asc uses the smallest and desc the largest value. NULL counts as greater than every value, and an empty path
 * is NULL (SEMANTICS section 7). The last tie-break is always ascending `id`. `$publication` sorts by rank.
 */
export type SortKey = {
  readonly path: readonly string[];
  readonly field: string;
  readonly direction: 'asc' | 'desc';
};

/**
 * Position in a sort order: the value of each sort key at some row, and last that row's `id`. NULL is null, booleans
 * are 0 and 1, dates and times milliseconds, `$publication` is its rank.
 */
export type SortPosition = readonly (string | number | bigint | null)[];

export type SearchRequest = {
  readonly type: Uid;
  readonly world: World;
  readonly query: BoolQuery;
  readonly sort: readonly SortKey[];
  readonly from: number;
  /** Infinity = all. */
  readonly size: number;
  /** Number of all matches, on any page. */
  readonly withTotal: boolean;
  /**
   * Asks for the first rows after a position (null: the first of all), whatever is added or deleted; the row at that
   * position may be gone. `from` is 0 and `size` finite then.
   */
  readonly cursor?: { readonly after: SortPosition | null };
  readonly answer?: AnswerScope;
  /** The found rows will be traversed further, for the same `answer`. */
  readonly traversed?: boolean;
  /** Keeps rows whose texts match. */
  readonly text?: TextSearch;
  /** Counts values of all that matches, whichever page. */
  readonly facets?: readonly FacetRequest[];
};

/** Identifies the answer that a request is made for: an engine may cache its reads until the answer is complete. */
export type AnswerScope = Answered;

/** Rows of one answer: parallel arrays. */
export type Hits = {
  /** Opaque to callers: the `parents` of `traverse`. (In the embedded index the ordinals.) */
  readonly rows: readonly number[];
  readonly sources: readonly Uint8Array[];
};

export type SearchResult = {
  readonly total: number | undefined;
  readonly hits: Hits;
  /** With `cursor` only: the position of the last hit, null if no row follows it. */
  readonly next?: SortPosition | null;
  /** With `text` only. */
  readonly text?: TextSearchReport;
  /** One per facet that was asked for, in the same order. */
  readonly facets?: readonly FacetCounts[];
};

/** The rows linked to each of `parents`, all parents in one call. */
export type TraverseRequest = {
  readonly rowSet: RowSet;
  readonly world: World;
  /** `Hits.rows` of a search or traversal in that row set and world. */
  readonly parents: readonly number[];
  /** A relation (either side), media, component or dynamic zone attribute, or `localizations`. */
  readonly attribute: string;
  /** Selects the matching targets. Not for dynamic zones, see `zone`. */
  readonly query?: BoolQuery;
  /** In a dynamic zone: selects the components of these kinds, each kind those that match its query. Absent = all. */
  readonly zone?: ReadonlyMap<Uid, BoolQuery>;
  /** Replaces link order. */
  readonly sort?: readonly SortKey[];
  /** Maximum number of rows over all parents together; one more sets `exceeded`. */
  readonly limit: number;
  readonly countOnly?: boolean;
  readonly answer?: AnswerScope;
  /** The found rows will be traversed further as well. */
  readonly traversed?: boolean;
};

export type TraverseResult = {
  /** One list per parent, in link order or by `sort`. Empty lists when `countOnly`. */
  readonly children: readonly Hits[];
  readonly counts: readonly number[];
  /** In a dynamic zone: the component uid of each child, per parent. */
  readonly zoneComponents?: readonly (readonly Uid[])[];
  readonly exceeded: boolean;
};

/** A row and those that it is linked to. */
export type LinkedKeys = { readonly row: number; readonly targets: readonly number[] };

/** Notes on rows, by `Hits.rows` and `Hits.sources`: `NOTE_WORDS` words each, of which the last one is not 0. */
export type RowNotes = {
  /** Where the note on a row with this source begins in `words()`; -1: there is none. */
  find(row: number, source: Uint8Array): number;
  words(): Uint32Array;
  /** Has no effect if the index does not have this source in memory. */
  set(row: number, source: Uint8Array, note: Uint32Array): void;
};

/** Words of 32 bits in a note on a row. */
export const NOTE_WORDS = 2;

export type ReadIndex = {
  /** Resolves when every later search sees the batch. Replaying a batch is harmless. */
  apply(batch: ChangeBatch): Promise<void>;
  /** Position of the last batch applied; 0n before the first… positions start at 1n. */
  position(): bigint;
  search(request: SearchRequest): Promise<SearchResult>;
  /**
   * Runs several searches of one answer. Each result is that of `search`; what the requests have in common is evaluated once.
   * Rejects if one of them fails.
   */
  searchMany(requests: readonly SearchRequest[]): Promise<readonly SearchResult[]>;
  traverse(request: TraverseRequest): Promise<TraverseResult>;
  /**
   * Runs `work`, which makes one answer of several searches and traversals with the given scope: all on one state of the
   * index. If the state changes, `work` runs again. Absent: each search and traversal sees the state at its time.
   */
  answer?<Result>(work: (answer: AnswerScope) => Promise<Result>, terms?: AnswerTerms): Promise<Result>;
  /**
   * Explains how a search is answered, as JSON for people: the engine's own query and the chosen strategies. No effect
   * on answers.
   */
  explain?(request: SearchRequest): Promise<unknown>;
  /**
   * Builds in the background what the first queries would otherwise wait for. Resolves when done or when the index was closed; no
   * caller has to wait for it.
   */
  warm?(): Promise<void>;
  /** Rows whose texts have changed since their words were read: searches read them first. Absent like `sourceAt`. */
  staleRows?(): number;
  /**
   * Source of the content type's row with this key, or that the component with this key is in. Absent: the index has no
   * rows in this process.
   */
  sourceAt?(rowSet: RowSet, world: World, key: number): Uint8Array | undefined;
  /**
   * The content type's row with this key, or that the component with this key is in, and the rows that a relation which the type
   * owns leads to, all by their keys. Absent like `sourceAt`.
   */
  linkedAt?(
    rowSet: RowSet,
    key: number,
    at: { readonly world: World; readonly attribute: string },
  ): LinkedKeys | undefined;
  /**
   * Notes of its users on a content type's rows, with one name for all notes of a kind. The index forgets that on a row whose source
   * changes. Absent like `sourceAt`.
   */
  rowNotes?(type: Uid, world: World, name: string): RowNotes;
  /** Component attributes that a change of an existing row would change. Absent like `sourceAt`. */
  changedComponents?(change: RowChange): readonly string[];
  close(): Promise<void>;
};
