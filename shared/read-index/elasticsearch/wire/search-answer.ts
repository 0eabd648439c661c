import type { StoredLinks, StoredParts } from '../layout/index-document.ts';

/** Doc values of a hit, by field. Each is a list, even if it has only one value. */
export type HitFields = { readonly [field: string]: readonly unknown[] | undefined };

/** Links and components of a row, which `traverse` needs. If absent, they are in `fields` and are parsed when they are needed. */
export type RowDetails = { readonly fields: HitFields; links?: StoredLinks; parts?: StoredParts };

export type SearchHit = {
  readonly fields?: HitFields;
  /** Bytes of the field `src`, if the search asked for it. */
  readonly source?: Uint8Array;
  /** Details of a cached row. Data that one answer has parsed is used by the next. */
  readonly details?: RowDetails;
  readonly sort?: readonly (string | number | null)[];
  readonly inner_hits?: {
    readonly [path: string]: { readonly hits: { readonly hits: readonly SearchHit[] } };
  };
};

export type SearchAnswer = {
  readonly hits: { readonly total?: { readonly value: number }; readonly hits: readonly SearchHit[] };
  readonly aggregations?: { readonly [name: string]: unknown };
};

/** Returns the buckets of an aggregation. */
export function bucketsIn<Bucket>({ aggregations }: SearchAnswer, name: string): readonly Bucket[] {
  const found = aggregations?.[name] as { readonly buckets: readonly Bucket[] } | undefined;
  return found?.buckets ?? [];
}

/** The answer of one search, or the reason why it has none. */
export type SearchOutcome =
  | { readonly kind: 'answered'; readonly answer: SearchAnswer }
  | { readonly kind: 'failed'; readonly error: Error };

/** Outcome of one of several searches. */
type SingleAnswer = SearchAnswer & { readonly status?: number; readonly error?: unknown };

/** Reads the answer to a `_search`, or to a `_msearch` of several searches, with the sources as bytes. */
export function readOutcomes(answer: unknown, searches: number): readonly SearchOutcome[] {
  const answers =
    searches === 1
      ? [answer as SingleAnswer]
      : (answer as { readonly responses: readonly SingleAnswer[] }).responses;
  if (answers.length !== searches)
    throw new Error(`Elasticsearch returned ${answers.length} answers to ${searches} searches`);
  return answers.map((each): SearchOutcome => {
    const { status = 200, error } = each;
    if (status !== 200) return { kind: 'failed', error: new SearchFailure(status, JSON.stringify(error)) };
    readSources(each);
    return { kind: 'answered', answer: each };
  });
}

/** Error for a search that Elasticsearch did not carry out. */
export class SearchFailure extends Error {
  readonly status: number;

  constructor(status: number, reason: string) {
    super(`Elasticsearch answers ${status}: ${reason}`);
    this.status = status;
  }
}

type Sourced = { readonly fields?: HitFields; source?: Uint8Array };

/** Gives each hit its source as bytes. It is base64 in the answer. */
function readSources({ hits }: SearchAnswer): void {
  for (const hit of hits.hits as readonly Sourced[]) {
    const source = hit.fields?.['src'];
    if (source !== undefined) hit.source = Buffer.from(source[0] as string, 'base64');
  }
}
