import { createRecentValues } from '../../../recent-values.ts';
import { foreignDocument } from '../wire/refusal.ts';
import type { HitFields, SearchAnswer, SearchHit } from '../wire/search-answer.ts';
import type { Search } from '../wire/write-search.ts';

/** Cache of rows by the digest of their document. It is never stale, because a changed document has another digest. */
export type RowCache = ReturnType<typeof createRowCache>;

/** Data that a search needs besides the source, as bits: the links of a row, and its components. */
export type RowNeed = number;

export type RowCacheOptions = {
  /** Approximate bytes. A row counts with its size in this process. */
  readonly maxBytes: number;
  /**
   * Share of an index's recent pages, from 0 to 1, whose rows must have been known. From this share on, a search expects to know the next
   * page too.
   */
  readonly expectFrom?: number;
};

/** A search for digests alone costs about three quarters of one for rows. The cost is lost if a row is not known. */
const EXPECT_FROM = 0.8;
/** Weight of one page in the estimated share. */
const LEARNED = 0.05;

const [LINKS, PARTS] = [1, 2];
const BITS: Readonly<Record<string, RowNeed>> = { key: 0, src: 0, links: LINKS, parts: PARTS };

/** Creates an empty cache. It expects nothing of an index before the rows of most recent pages were known. */
export function createRowCache({ maxBytes, expectFrom = EXPECT_FROM }: RowCacheOptions) {
  const rows = createRecentValues<number, KeptRow>(maxBytes / 2, ({ bytes }) => bytes);
  /** Share of pages whose rows were all known, by index. */
  const shares = new Map<string, number>();
  const learn = (index: string, known: boolean) => {
    const share = shares.get(index) ?? 0;
    shares.set(index, share + ((known ? 1 : 0) - share) * LEARNED);
  };
  const find = (hit: SearchHit, need: RowNeed): KeptRow | undefined => {
    const sum = sumOf(hit);
    const row = rows.get(numberOf(sum));
    return row?.sum === sum && (row.has & need) === need ? row : undefined;
  };
  return {
    /** Returns whether a search of this index should ask for digests alone, because recent pages had only known rows. */
    expects: (index: string) => (shares.get(index) ?? 0) >= expectFrom,
    /** Returns the answer to a search for digests alone, with the rows added; undefined if a row is not known. */
    fill(index: string, need: RowNeed, answer: SearchAnswer): SearchAnswer | undefined {
      const hits: SearchHit[] = [];
      for (const hit of answer.hits.hits) {
        const known = find(hit, need);
        if (known === undefined) {
          learn(index, false);
          return undefined;
        }
        hits.push(hit.sort === undefined ? known : { ...known, sort: hit.sort });
      }
      if (hits.length > 0) learn(index, true);
      return { ...answer, hits: { ...answer.hits, hits } };
    },
    /** Stores the rows of an answer to a search for rows and digests. */
    keep(index: string, need: RowNeed, { hits: { hits } }: SearchAnswer): void {
      const unknown = hits.filter((hit) => find(hit, need) === undefined);
      for (const hit of unknown) {
        const row = keptRow(hit, need);
        if (row.bytes <= maxBytes * MOST_OF_ALL) rows.set(numberOf(row.sum), row);
      }
      if (hits.length > 0) learn(index, unknown.length === 0);
    },
  };
}

/** Maximum share of the memory for one row. A larger row would displace many others. */
const MOST_OF_ALL = 1 / 8;

/** A hit in the form of answers. */
type KeptRow = SearchHit & { readonly sum: string; readonly has: RowNeed; readonly bytes: number };

/**
 * Returns the first 32 bits of a digest, which are the key of cached rows. A Map with text keys enters every text into a table of all
 * texts. That takes more time than everything else here. If two rows have the same number, the later one is cached.
 */
function numberOf(sum: string): number {
  let number = 0;
  for (let at = 0; at < 8; at++) number = (Math.imul(number, 31) + sum.charCodeAt(at)) | 0;
  return number;
}

/** Returns the data that a search for whole rows needs; undefined if the search asks for other fields. */
export function rowNeed({ body: { docvalue_fields: fields = [] } }: Search): RowNeed | undefined {
  if (!fields.includes('src') || !fields.includes('key')) return undefined;
  let need = 0;
  for (const field of fields) {
    const bit = BITS[field];
    if (bit === undefined) return undefined;
    need |= bit;
  }
  return need;
}

/** Returns the same search for digests alone. The digest of a document covers its key. */
export function searchForDigests(search: Search): Search {
  return { ...search, body: { ...search.body, docvalue_fields: ['sum'] } };
}

/** Returns the search with each document's digest in the answer. */
export function withDigests(search: Search): Search {
  const { body } = search;
  return { ...search, body: { ...body, docvalue_fields: [...(body.docvalue_fields ?? []), 'sum'] } };
}

/** Returns the digest of a hit. Every document of Varve has one. */
function sumOf({ fields }: SearchHit): string {
  const sum = fields?.['sum']?.[0];
  if (typeof sum !== 'string') throw foreignDocument();
  return sum;
}

/** Bytes of a row's objects, in addition to its content. */
const ROW_BYTES = 500;
/** Bytes of parsed links and components, as a multiple of their text. */
const PARSED = 4;

/** Returns a separate copy, because the parts of an answer are windows on the whole buffer. */
function keptRow(hit: SearchHit, has: RowNeed): KeptRow {
  const { key, links, parts } = hit.fields ?? {};
  const fields: HitFields = { key, links: links?.map(copied), parts: parts?.map(copied) };
  const source = new Uint8Array(hit.source ?? []);
  const bytes = ROW_BYTES + source.length + PARSED * (lengthOf(links) + lengthOf(parts));
  return { source, fields, details: { fields }, sum: copied(sumOf(hit)), has, bytes };
}

function copied(text: unknown): string {
  return Buffer.from(String(text), 'latin1').toString('latin1');
}

/** Returns the length of a field's only text, or 0 if it has none. */
function lengthOf(values: HitFields[string]): number {
  return values === undefined ? 0 : String(values[0]).length;
}
