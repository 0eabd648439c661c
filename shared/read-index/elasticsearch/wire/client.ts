import { Client } from '@elastic/elasticsearch';
import { defined } from '../../../defined.ts';

/** Address and credentials of the cluster. */
export type ElasticsearchConnection = {
  /** Address such as `http://127.0.0.1:9200`; absent with a cloud id. */
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
 * http://127.0.0.1:9200.
 */
export function createElasticsearchClient(connection: ElasticsearchConnection): Client {
  const { url, cloudId, username, password, apiKey, ca } = connection;
  const user = username === undefined ? undefined : { username, password: password ?? '' };
  return new Client({
    ...(cloudId === undefined ? { node: url ?? 'http://127.0.0.1:9200' } : { cloud: { id: cloudId } }),
    ...defined({
      auth: apiKey === undefined ? user : { apiKey },
      tls: ca === undefined ? undefined : { ca },
    }),
  });
}
