import { type Client, UndiciConnection } from '@elastic/elasticsearch';

export type ExchangeAnswer = { readonly status: number; readonly bytes: Buffer };

/** Posts JSON to the cluster. Rejects with `Unreachable` if there is no complete answer. */
export type Exchange = (path: string, body: string) => Promise<ExchangeAnswer>;

export class Unreachable extends Error {}

/** Milliseconds without a byte after which a request fails. Longer than any search of Varve may take. */
const SILENCE = 30_000;
/** Maximum attempts. If the cluster closed an idle connection, this may only show when the connection is used. */
const TRIES = 2;

/** Codes of errors that are not retried: the cluster was silent for so long that the request would wait twice. */
const SILENT: ReadonlySet<string> = new Set(['UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT']);

type Dispatcher = UndiciConnection['pool'];
type Call = Parameters<Dispatcher['dispatch']>[0];

/**
 * Creates an exchange over the official client's connections, with its address, credentials and certificates, but without its
 * `transport.request`. Half of a search's cost in this process is spent there on streams, events and retries.
 */
export function createExchange(client: Client): Exchange {
  const [connection] = client.connectionPool.connections;
  if (!(connection instanceof UndiciConnection)) throw new Error("Elasticsearch's client has no connection");
  const { pool, url, headers } = connection;
  const prefix = url.pathname.replace(/\/$/, '');
  const call = {
    origin: url.origin,
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json', accept: 'application/json' },
    headersTimeout: SILENCE,
    bodyTimeout: SILENCE,
  } as const;
  return async (path, body) => {
    for (let tries = 1; ; tries++) {
      try {
        return await dispatch(pool, { ...call, path: prefix + path, body });
      } catch (error) {
        const { code = '' } = error as { readonly code?: string };
        if (code === 'UND_ERR_INVALID_ARG') throw error;
        if (tries === TRIES || SILENT.has(code))
          throw new Unreachable((error as Error).message, { cause: error });
      }
    }
  };
}

/** Uses undici's older handler methods. The newer ones make an object of the answer's headers, which is not needed here. */
function dispatch(pool: Dispatcher, call: Call): Promise<ExchangeAnswer> {
  return new Promise((resolve, reject) => {
    let status = 0;
    const chunks: Buffer[] = [];
    pool.dispatch(call, {
      onConnect: () => {},
      onHeaders: (code) => {
        status = code;
        return true;
      },
      onData: (chunk) => {
        chunks.push(chunk);
        return true;
      },
      onComplete: () => {
        const [only] = chunks;
        const bytes = chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks);
        resolve({ status, bytes });
      },
      onError: reject,
    });
  });
}
