/** Doc values of a hit by field: lists, also of one value. */
export type HitFields = { readonly [field: string]: readonly unknown[] | undefined };

export type SearchHit = {
  readonly fields?: HitFields;
  /** Bytes of the field `src`, where it was asked for. */
  readonly source?: Uint8Array;
  readonly sort?: readonly (string | number | null)[];
  readonly inner_hits?: {
    readonly [path: string]: { readonly hits: { readonly hits: readonly SearchHit[] } };
  };
};

export type SearchAnswer = {
  readonly hits: { readonly total?: { readonly value: number }; readonly hits: readonly SearchHit[] };
  readonly aggregations?: { readonly [name: string]: unknown };
};

/** How a hit's source begins. Within a JSON string the quotes would have backslashes before them. */
const SOURCE = Buffer.from('"src":["');
const QUOTE = 0x22;

/**
 * Reads the body of a search answer. Sources, base64 and most of its bytes, go to bytes from where they stand; only what is left
 * of the text is parsed.
 */
export function readSearchAnswer(body: Buffer): SearchAnswer {
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
  const answer = JSON.parse(rest + body.toString('utf8', at)) as SearchAnswer;
  let next = 0;
  for (const hit of answer.hits.hits as { fields?: HitFields; source?: Uint8Array | undefined }[]) {
    if (hit.fields?.['src'] !== undefined) hit.source = sources[next++];
  }
  return answer;
}
