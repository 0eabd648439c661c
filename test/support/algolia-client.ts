/** The part of Algolia's client that tests use. */
export type AlgoliaClient = {
  search(
    requests: readonly { readonly indexName: string; readonly [member: string]: unknown }[],
  ): Promise<{ readonly results: readonly object[] }>;
};

type Lite = {
  liteClient(
    appId: string,
    apiKey: string,
    options: {
      readonly hosts: readonly { url: string; accept: string; protocol: string }[];
      readonly timeouts: Readonly<Record<'connect' | 'read' | 'write', number>>;
    },
  ): AlgoliaClient;
};

const lite = (await import(import.meta.resolve('algoliasearch/lite'))) as Lite;

/** Creates an unmodified `algoliasearch/lite` client for the server at this address. */
export function algoliaClient(base: string, apiKey = 'public'): AlgoliaClient {
  const { host } = new URL(base);
  return lite.liteClient('varve', apiKey, {
    hosts: [{ url: host, accept: 'readWrite', protocol: 'http' }],
    // By default the client gives its only host up after a second, which a busy machine may need.
    timeouts: { connect: 60_000, read: 60_000, write: 60_000 },
  });
}
