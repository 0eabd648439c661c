import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { Readable } from 'node:stream';
import { expect, it, onTestFinished, vi } from 'vitest';
import { createIdentities } from '../../services/login/identities.ts';
import { smtpMailer } from '../../services/login/mailer.ts';
import { openAssetStore } from '../../services/stores/open-asset-store.ts';
import { createElasticsearchClient } from '../../shared/read-index/elasticsearch/wire/client.ts';
import { createSearchEngine } from '../../shared/read-index/elasticsearch/wire/search-engine.ts';
import { takesMinutes } from '../support/takes-minutes.ts';

/** Starts a server that accepts connections, reads all data, and never answers. It counts its connections. */
async function startSilent(): Promise<{ readonly host: string; readonly connections: () => number }> {
  let connections = 0;
  const server = createServer((socket) => {
    connections += 1;
    socket.on('error', () => {}).resume();
    onTestFinished(() => void socket.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return { host: `127.0.0.1:${(server.address() as AddressInfo).port}`, connections: () => connections };
}

/** A JWT whose key must be requested from the provider. */
const JWT = [
  { alg: 'RS256', kid: 'k' },
  { sub: 'a', exp: 4e9 },
]
  .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
  .concat('c2ln')
  .join('.');

const assetsAt = (host: string) => `s3://assets?endpoint=http://${host}&region=us-east-1`;
const HASH = 'a'.repeat(64);

/** Calls of Varve to other servers, each with its own time limit. */
const CALLS: Readonly<Record<string, (host: string) => Promise<unknown>>> = {
  async Elasticsearch(host) {
    const client = createElasticsearchClient({ url: `http://${host}` });
    onTestFinished(() => client.close());
    return createSearchEngine(client).search([{ index: 'a', body: { size: 0, query: { match_all: {} } } }]);
  },
  'mail server': (host) =>
    smtpMailer(
      `smtp://${host}`,
      'a@example.org',
    )({ from: '', replyTo: '', to: 'b@example.org', subject: '', html: '' }),
  'identity provider': (host) =>
    createIdentities(
      { keys: `http://${host}/keys`, audience: 'a', issuer: undefined, roleClaim: 'roles', roles: new Map() },
      () => {
        throw new Error('nobody has signed in');
      },
    )(JWT),
  // A start does not wait for the asset store, but later requests do.
  'start with an asset store': (host) => openAssetStore(assetsAt(host)),
  async 'a file of an asset store'(host) {
    return (await openAssetStore(assetsAt(host))).size(HASH);
  },
  async 'the deletion of a file in an asset store'(host) {
    return (await openAssetStore(assetsAt(host))).delete(HASH);
  },
  async 'the name of a file in an asset store'(host) {
    return (await openAssetStore(assetsAt(host))).names.find('a');
  },
  async 'an upload to an asset store'(host) {
    return (await openAssetStore(assetsAt(host))).stage(Readable.from([Buffer.from('a')]), 1);
  },
};

it('gives up on every server that accepts a connection and does not answer', {
  ...takesMinutes('the time limits of calls to other servers'),
  timeout: 300_000,
}, async () => {
  for (const name of ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY']) vi.stubEnv(name, 'any');
  onTestFinished(() => void vi.unstubAllEnvs());
  const found = await Promise.all(
    Object.entries(CALLS).map(async ([name, call]) => {
      const { host, connections } = await startSilent();
      const error = await call(host).then(
        () => undefined,
        (reason: unknown) => reason as Error & { readonly code?: string },
      );
      return [name, [error?.code ?? error?.constructor.name, connections()]];
    }),
  );
  expect(Object.fromEntries(found)).toEqual({
    Elasticsearch: ['read-index-unavailable', 1],
    'mail server': ['ETIMEDOUT', 1],
    'identity provider': ['keys-unavailable', 1],
    'start with an asset store': [undefined, 1],
    // The start and the request have one connection each, and neither retries.
    'a file of an asset store': ['asset-store-unavailable', 2],
    'the deletion of a file in an asset store': ['asset-store-unavailable', 2],
    'the name of a file in an asset store': ['asset-store-unavailable', 2],
    // One more connection looks for remains of earlier uploads.
    'an upload to an asset store': ['asset-store-unavailable', 3],
  });
});
