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

/** Beginning of a hit's source. Inside a JSON string the quotes would be escaped. */
const SOURCE = Buffer.from('"src":["');
const QUOTE = 0x22;

/** Outcome of one of several searches. */
type SingleAnswer = SearchAnswer & { readonly status?: number; readonly error?: unknown };

/** Reads the body of a `_search`, with the sources as bytes. */
export function readSearchAnswer(body: Buffer): SearchAnswer {
  const { json, sources } = parseBody(body);
  const answer = json as SearchAnswer;
  giveSources([answer], sources);
  return answer;
}

/** Reads the body of a `_msearch`. */
export function readSearchAnswers(body: Buffer): readonly SearchOutcome[] {
  const { json, sources } = parseBody(body);
  const { responses } = json as { readonly responses: readonly SingleAnswer[] };
  const outcomes = responses.map((answer): SearchOutcome => {
    const { status = 200, error } = answer;
    if (status === 200) return { kind: 'answered', answer };
    return { kind: 'failed', error: new SearchFailure(status, JSON.stringify(error)) };
  });
  const answers = outcomes.flatMap((outcome) => (outcome.kind === 'answered' ? [outcome.answer] : []));
  giveSources(answers, sources);
  return outcomes;
}

/** Error for a search that Elasticsearch did not carry out. */
export class SearchFailure extends Error {
  readonly status: number;

  constructor(status: number, reason: string) {
    super(`Elasticsearch answers ${status}: ${reason}`);
    this.status = status;
  }
}

/** Parses a body. Sources are base64 and most of the bytes, so they are copied directly. Only the rest of the text is parsed. */
function parseBody(body: Buffer): { readonly json: unknown; readonly sources: readonly Uint8Array[] } {
  const sources: Uint8Array[] = [];
  let rest = '';
  let at = 0;
  for (let open = body.indexOf(SOURCE); open >= 0; open = body.indexOf(SOURCE, at)) {
    const start = open + SOURCE.length;
    const end = body.indexOf(QUOTE, start);
    sources.push(Buffer.from(body.toString('latin1', start, end), 'base64'));
    rest += body.toString('utf8', at, start);
    at = end;
  }
  return { json: JSON.parse(rest + body.toString('utf8', at)), sources };
}

type Sourced = { readonly fields?: HitFields; source?: Uint8Array | undefined };

function giveSources(answers: readonly SearchAnswer[], sources: readonly Uint8Array[]): void {
  let next = 0;
  for (const { hits } of answers) {
    for (const hit of hits.hits as readonly Sourced[]) {
      if (hit.fields?.['src'] !== undefined) hit.source = sources[next++];
    }
  }
}
