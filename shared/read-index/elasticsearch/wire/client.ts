import { Client, ClusterConnectionPool } from '@elastic/elasticsearch';
import { defined } from '../../../defined.ts';

/** Addresses and credentials of the cluster. */
export type ElasticsearchConnection = {
  /** Address such as `http://127.0.0.1:9200`, or several with commas between them; absent with a cloud id. */
  readonly url?: string;
  readonly cloudId?: string;
  readonly username?: string;
  readonly password?: string;
  readonly apiKey?: string;
  /** Certificate of the authority, in PEM. */
  readonly ca?: string;
};

/**
 * Creates a client. It connects at the first request. An API key takes precedence over a user name. The default address is
 * http://127.0.0.1:9200. Requests go to the addresses in turn. The client asks the cluster for no further addresses. An address that does
 * not answer is left out for a minute or more, unless all are.
 */
export function createElasticsearchClient(connection: ElasticsearchConnection): Client {
  const { url = 'http://127.0.0.1:9200', cloudId, username, password, apiKey, ca } = connection;
  const user = username === undefined ? undefined : { username, password: password ?? '' };
  return new Client({
    ...(cloudId === undefined
      ? { nodes: addressesOf(url), ConnectionPool: ClusterConnectionPool }
      : { cloud: { id: cloudId } }),
    // By default an error has a copy of its request. It takes gigabytes to copy a body of 40 MB, which is bytes.
    redaction: { type: 'remove' },
    // Answers are not merged into other objects, so their names can do no harm. The check takes as long as parsing.
    disablePrototypePoisoningProtection: true,
    ...defined({
      auth: apiKey === undefined ? user : { apiKey },
      tls: ca === undefined ? undefined : { ca },
    }),
  });
}

/** Returns the addresses in a text with commas between them. */
function addressesOf(url: string): string[] {
  return url.split(',').map((each) => each.trim());
}

/** Milliseconds for a node to show that it answers. */
const SIGN_OF_LIFE = 1_000;
/** Milliseconds in which a node that hung learns what the cluster has done without it. Until then it answers from old copies. */
const CATCHES_UP = 3_000;

/** When each node that hung has answered again; undefined: not yet. */
const hung = new WeakMap<object, number | undefined>();

/**
 * Keeps nodes in use after a request timed out, if they answer a small request now. The client leaves out every node whose request timed
 * out. But the node may have waited for another one, which hangs.
 */
export function keepAnsweringNodes({ connectionPool }: Client): void {
  const options = { requestId: 'alive', name: 'varve', context: null, timeout: SIGN_OF_LIFE };
  for (const connection of connectionPool.connections) {
    if (connection.status !== 'dead') continue;
    void connection.request({ method: 'HEAD', path: '/' }, options).then(
      () => {
        if (mayBeAsked(connection, performance.now())) connectionPool.markAlive(connection);
      },
      () => hung.set(connection, undefined),
    );
  }
}

/** Returns whether a node that answers may be asked. One that hung has to answer for a while. */
function mayBeAsked(node: object, now: number): boolean {
  if (!hung.has(node)) return true;
  const since = hung.get(node) ?? now;
  hung.set(node, since);
  return now - since >= CATCHES_UP && hung.delete(node);
}
