import { createServer, type RequestListener } from 'node:http';
import { expect, it, onTestFinished } from 'vitest';
import type { AccessControl } from '../../services/access/access-control.ts';
import type { KnownAnswer, KnownAnswers } from '../../services/delivery/known-answers.ts';
import type { CallerApi } from '../../services/http/api/caller-apis.ts';
import { type RememberedFirstOptions, rememberedFirst } from '../../services/http/remembered-first.ts';
import { ownSocket } from '../../services/http/sockets/listening-socket.ts';
import type { Tracing } from '../../services/operating/tracing.ts';

const KNOWN: KnownAnswer = {
  etag: '"e"',
  route: '/api/a',
  isDraft: false,
  position: 1n,
  body: Buffer.from('remembered'),
};

/** Sends a request to a server that remembers answers by these URLs. It answers `routed` for all others. */
async function ask(
  path: string,
  answers: Readonly<Record<string, KnownAnswer>>,
  more: Partial<RememberedFirstOptions> = {},
): Promise<string> {
  const known: Partial<KnownAnswers> = {
    keepsBodies: true,
    counts: { hits: 0, misses: 0 },
    isRepeated: () => true,
    find: (url) => answers[url],
  };
  const options = {
    access: { authenticate: () => ({}), state: () => ({ development: false }) } as unknown as AccessControl,
    apiFor: () => ({ delivery: { generation: 'g', known } }) as unknown as CallerApi,
    apiPrefix: '/api',
    answersReads: true,
    protection: { corsOrigins: [], rateLimit: 0 },
    meters: { durations: undefined, tracing: undefined },
    ...more,
  };
  const routing: RequestListener = (_request, response) => response.end('routed');
  const measures = { unrouted() {}, remembered() {} };
  const server = createServer(rememberedFirst(routing, options, measures));
  const socket = ownSocket(server);
  const { port } = await socket.open({ host: '127.0.0.1', port: 0 });
  onTestFinished(async () => {
    server.closeAllConnections();
    await (await socket.close()).ended;
  });
  return (await fetch(`http://127.0.0.1:${port}${path}`)).text();
}

it('sends remembered answers, and passes all other requests to the routes', async () => {
  const { body: _, ...withoutBody } = KNOWN;
  const { route: __, ...withoutRoute } = KNOWN;
  expect(await ask('/api/a?x=1', { '/api/a?x=1': KNOWN })).toBe('remembered');
  expect(await ask('/api/a?x=2', { '/api/a?x=1': KNOWN })).toBe('routed');
  expect(await ask('/api/a', { '/api/a': withoutBody })).toBe('routed');
  expect(await ask('/api/a', { '/api/a': withoutRoute })).toBe('routed');
});

it('finds answers by the path that routes get', async () => {
  const answers = { '/api/a': KNOWN, '/api/v1/b': KNOWN };
  const prefix = { apiPrefix: '/api/v1' };
  expect(await ask('/api/v1/a', answers, prefix)).toBe('remembered');
  // This is the answer of the route /api/b.
  expect(await ask('/api/v1/b', answers, prefix)).toBe('routed');
});

it.each<[string, Partial<RememberedFirstOptions>]>([
  ['has a limit', { protection: { corsOrigins: [], rateLimit: 1 } }],
  ['has headers for other origins', { protection: { corsOrigins: ['*'], rateLimit: 0 } }],
  ['is refused', { answersReads: false }],
  ['has a span', { meters: { durations: undefined, tracing: {} as Tracing } }],
])('leaves all to routes where each request %s', async (_name, more) => {
  expect(await ask('/api/a', { '/api/a': KNOWN }, more)).toBe('routed');
});
