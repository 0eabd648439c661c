import { Client, type ClientOptions, errors } from '@elastic/elasticsearch';
import { RequestError } from '../../request-error.ts';
import type { Dsl, SortDsl } from './dsl.ts';

/** Where the cluster is and who asks. */
export type ElasticsearchConnection = {
  /** `http://127.0.0.1:9200`; absent with a cloud id. */
  readonly url?: string;
  readonly cloudId?: string;
  readonly username?: string;
  readonly password?: string;
  readonly apiKey?: string;
  /** The authority's certificate, PEM. */
  readonly ca?: string;
};

export type SearchBody = {
  readonly from?: number;
  readonly size: number;
  readonly query: Dsl;
  readonly sort?: readonly SortDsl[];
  readonly search_after?: readonly (string | number | null)[];
  readonly track_total_hits?: boolean;
  readonly docvalue_fields?: readonly string[];
  readonly aggs?: { readonly [name: string]: unknown };
};

/** Doc values of a hit by field: lists, also of one value. */
export type HitFields = { readonly [field: string]: readonly unknown[] | undefined };

export type SearchHit = {
  readonly fields?: HitFields;
  readonly sort?: readonly (string | number | null)[];
  readonly inner_hits?: {
    readonly [path: string]: { readonly hits: { readonly hits: readonly SearchHit[] } };
  };
};

export type SearchAnswer = {
  readonly hits: { readonly total?: { readonly value: number }; readonly hits: readonly SearchHit[] };
  readonly aggregations?: { readonly [name: string]: unknown };
};

/** The reading side's way to a cluster. Counts its searches, so that tests can hold plans to what they promise. */
export type SearchEngine = {
  search(index: string, body: SearchBody): Promise<SearchAnswer>;
  searches(): number;
};

export function createElasticsearchClient(connection: ElasticsearchConnection): Client {
  const { url, cloudId, username, password, apiKey, ca } = connection;
  const options: ClientOptions = {
    ...(cloudId === undefined ? { node: url ?? 'http://127.0.0.1:9200' } : { cloud: { id: cloudId } }),
    ...(apiKey === undefined ? {} : { auth: { apiKey } }),
    ...(username === undefined || apiKey !== undefined
      ? {}
      : { auth: { username, password: password ?? '' } }),
    ...(ca === undefined ? {} : { tls: { ca } }),
  };
  return new Client(options);
}

const HEADERS = { 'content-type': 'application/json', accept: 'application/json' };

export function createSearchEngine(client: Client): SearchEngine {
  let searches = 0;
  return {
    async search(index, body) {
      searches++;
      // Stored fields are not read: everything comes from doc values.
      const whole = { _source: false, stored_fields: '_none_', track_total_hits: false, ...body };
      const request = {
        method: 'POST',
        path: `/${index}/_search?allow_partial_search_results=false`,
        body: JSON.stringify(whole),
      };
      return readAnswer(await send(client, request));
    },
    searches: () => searches,
  };
}

type Request = Parameters<Client['transport']['request']>[0];
type Answer = { readonly status: number; readonly body: AsyncIterable<Buffer> };

async function send(client: Client, request: Request): Promise<Answer> {
  try {
    // As a stream: the client's own parser takes twice as long.
    const options = { asStream: true, headers: HEADERS, meta: true } as const;
    const { statusCode, body } = await client.transport.request<AsyncIterable<Buffer>>(request, options);
    return { status: statusCode ?? 0, body };
  } catch (error) {
    const unreachable = error instanceof errors.ConnectionError || error instanceof errors.TimeoutError;
    throw unreachable || error instanceof errors.NoLivingConnectionsError ? unavailable() : error;
  }
}

async function readAnswer({ status, body }: Answer): Promise<SearchAnswer> {
  const chunks: Buffer[] = [];
  for await (const chunk of body) chunks.push(chunk);
  const text = Buffer.concat(chunks).toString();
  if (status === 200) return JSON.parse(text) as SearchAnswer;
  // A cluster that is not ready or too busy is no fault of the request; anything else is a bug.
  throw [429, 502, 503].includes(status)
    ? unavailable()
    : new Error(`Elasticsearch answers ${status}: ${text}`);
}

function unavailable(): RequestError {
  return new RequestError(503, 'ServiceUnavailableError', 'The read index cannot be reached right now');
}
