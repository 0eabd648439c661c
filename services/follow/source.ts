import type { LinkTarget } from '../../shared/document/events.ts';
import type { RowStamp } from '../../shared/document/recorded-rows.ts';
import type { World } from '../../shared/read-index/read-index.ts';
import type { Uid } from '../../shared/schema/content-type.ts';
import type { StagedRow } from '../strapi/staging.ts';

/**
 * Port of a followed Strapi. Adapters: its REST API, and a double of recorded answers in tests. All calls reject with SourceUnavailable if
 * the source cannot be reached now, and with SourceRefused if it answers that the call is wrong.
 */
export type Source = {
  /** Returns a page of stamps of one version of a type with ids above `after`, in order of ids; empty after the last. */
  stampsAfter(type: Uid, version: RowStamp['version'], after: number): Promise<readonly RowStamp[]>;
  /** Returns a page of the newest rows by `order`, and the number of all rows if Strapi counts them. Pages begin at 1. */
  newest(type: Uid, version: RowStamp['version'], order: NewestBy, page: number): Promise<NewestPage>;
  /** Returns all rows of at most DOCUMENTS_AT_ONCE documents, with relations. A deleted document has no rows. */
  documents(type: Uid, documentIds: readonly string[]): Promise<readonly SourceRow[]>;
  /** Reads the content of a file by its URL. */
  content(url: string): AsyncIterable<Buffer>;
  /** Returns the default locale; undefined if the token lacks the right to read it. */
  defaultLocale(): Promise<string | undefined>;
  /** Returns the number of requests so far. */
  requests(): number;
};

export type NewestBy = 'id' | 'updatedAt';

export type NewestPage = { readonly stamps: readonly RowStamp[]; readonly total: number | undefined };

/** Strapi's query parser drops lists of more than 100; this keeps the URL short too. */
export const DOCUMENTS_AT_ONCE = 50;

/** Row of the source. */
export type SourceRow = StagedRow & {
  /**
   * Links of the row's own relation attributes, on either side, by attribute. They are links of the row's world; a row without versions has
   * those of both worlds. An attribute that the source does not show is absent.
   */
  readonly lists: ReadonlyMap<string, WorldLists>;
};

export type WorldLists = {
  readonly draft: readonly LinkTarget[];
  readonly published: readonly LinkTarget[];
};

/** Returns the world whose lists have the links of a row. */
export function worldOf({ version }: { readonly version: RowStamp['version'] }): World {
  return version === 'published' ? 'published' : 'draft';
}

/** Error of a source that is down, slow or rate limited: a later request may succeed. */
export class SourceUnavailable extends Error {}

/** Error of a source that refuses a request: it has other content types, or the token lacks the right. */
export class SourceRefused extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}
