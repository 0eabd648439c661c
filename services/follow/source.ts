import type { LinkTarget } from '../../shared/document/events.ts';
import type { RowStamp } from '../../shared/document/recorded-rows.ts';
import type { Uid } from '../../shared/schema/content-type.ts';
import type { StagedRow } from '../strapi/staging.ts';

/**
 * The port of a Strapi that is followed. Adapters: its REST API, and a double of recorded answers in tests. All calls reject with
 * SourceUnavailable when the source cannot be asked for now, and with SourceRefused when it answers that the call is wrong.
 */
export type Source = {
  /** Stamps of one version of a type with an id above `after`, in order of ids: at most a page. Empty: there are no more. */
  stampsAfter(type: Uid, version: RowStamp['version'], after: number): Promise<readonly RowStamp[]>;
  /** The newest rows by `order`, page by page from 1 on, and how many rows there are; undefined where Strapi does not count. */
  newest(type: Uid, version: RowStamp['version'], order: NewestBy, page: number): Promise<NewestPage>;
  /** All rows of these documents, with their relations; of a document that is gone none. At most DOCUMENTS_AT_ONCE. */
  documents(type: Uid, documentIds: readonly string[]): Promise<readonly SourceRow[]>;
  /** Content of a file by its URL. */
  content(url: string): AsyncIterable<Buffer>;
  /** The default locale; undefined where the token may not ask. */
  defaultLocale(): Promise<string | undefined>;
  /** Requests so far. */
  requests(): number;
};

export type NewestBy = 'id' | 'updatedAt';

export type NewestPage = { readonly stamps: readonly RowStamp[]; readonly total: number | undefined };

/** Strapi's query parser drops lists of more than 100; this keeps the URL short too. */
export const DOCUMENTS_AT_ONCE = 50;

/** A row as the source has it. */
export type SourceRow = StagedRow & {
  /**
   * Links that the row's own relation attributes show, by attribute, of both sides; in the row's world, and for a row without versions in
   * either. An attribute that the source does not show is absent.
   */
  readonly lists: ReadonlyMap<string, WorldLists>;
};

export type WorldLists = {
  readonly draft: readonly LinkTarget[];
  readonly published: readonly LinkTarget[];
};

/** The source is down, slow, or asks to be left alone: later it may answer. */
export class SourceUnavailable extends Error {}

/** The source refuses the request: it has other content types, or the token lacks the right. */
export class SourceRefused extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}
