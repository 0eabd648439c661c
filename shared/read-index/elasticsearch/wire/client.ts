import { Client, type ClientOptions } from '@elastic/elasticsearch';

/** Address and credentials of the cluster. */
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

/**
 * Creates a client; it connects at the first request. An API key takes precedence over a user name. Without an address it is
 * http://127.0.0.1:9200.
 */
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
