import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Ask, createAsk } from '../support/access-client.ts';
import { type RunningServer, startServer } from '../support/server.ts';

let server: RunningServer;
let ask: Ask;
let hook: string;

beforeAll(async () => {
  server = await startServer();
  ask = createAsk(server.url);
  const data = { name: 'one', url: 'http://127.0.0.1:1', allowPrivate: true };
  const { body } = await ask('/_varve/webhooks', { method: 'POST', body: { data } });
  hook = `/_varve/webhooks/${body.data.id}`;
});
afterAll(() => server?.dispose());

const READ = ['/_varve/projections', '/_varve/tokens', '/_varve/public', '/_varve/roles', '/_varve/login'];
/** Returns the method and path of requests without a body or `data`. */
const OTHERS = () =>
  [
    ['GET', '/_varve/webhooks'],
    ['GET', hook],
    ['GET', `${hook}/deliveries`],
    ['POST', '/_varve/tokens'],
    ['DELETE', '/_varve/tokens/none'],
    ['PUT', '/_varve/public'],
    ['PUT', '/_varve/roles/authenticated'],
    ['PUT', '/_varve/login'],
    ['POST', '/_varve/webhooks'],
    ...['pause', 'resume', 'rotate', 'test', 'replay'].map((action) => ['POST', `${hook}/${action}`]),
    ['DELETE', hook],
    ['POST', '/_varve/tickets'],
    ['POST', '/_varve/tickets/use'],
  ] as [string, string][];

it('refuses parameters below /_varve that no route reads, in the words of the API', async () => {
  const other = await ask('/api/tags?verbose=1');
  for (const [method, path] of [...READ.map((each) => ['GET', each] as const), ...OTHERS()]) {
    const { status, body } = await ask(`${path}?verbose=1`, { method });
    expect(status, `${method} ${path}`).toBe(400);
    const { accepted, problems, ...expected } = other.body.error.details;
    expect(body.error, `${method} ${path}`).toMatchObject({
      name: other.body.error.name,
      message: other.body.error.message,
      details: {
        ...expected,
        accepted: path.endsWith('/deliveries') ? ['state', 'position', 'bodies', 'limit'] : [],
      },
    });
  }
  expect((await ask(hook)).status, 'nothing was removed').toBe(200);
});

it('refuses a repeated parameter, or one without a value', async () => {
  for (const [query, found] of [
    ['limit=1&limit=2', ['1', '2']],
    ['limit=1&limit%5B%5D=2', ['1', '2']],
    ['limit', null],
  ] as const) {
    const { status, body } = await ask(`${hook}/deliveries?${query}`);
    expect(status, query).toBe(400);
    expect(body.error).toMatchObject({
      name: 'ValidationError',
      message: "Invalid parameter at 'limit'",
      details: { param: 'limit', source: 'query', found, accepted: 'one value' },
    });
  }
  expect((await ask(`${hook}/deliveries?limit=1&state=parked`)).status).toBe(200);
});

it('refuses members of bodies that no route reads', async () => {
  const writes = OTHERS().filter(([method]) => method !== 'GET');
  for (const [method, path] of writes) {
    const { status, body } = await ask(path, { method, body: { data: {}, verbose: 1 } });
    const accepted = /tokens$|public|roles|login|webhooks$|replay/.test(path) ? ['data'] : [];
    const members = path.endsWith('/use') ? ['ticket'] : accepted;
    const key = members.includes('data') ? 'verbose' : 'data';
    expect(status, `${method} ${path}`).toBe(400);
    expect(body.error, `${method} ${path}`).toMatchObject({
      name: 'ValidationError',
      message: `Invalid key ${key}`,
      details: { key, path: null, source: 'body', found: key, accepted: members },
    });
  }
});

it('answers everything else as before', async () => {
  for (const path of READ) expect((await ask(path)).status, path).toBe(200);
  for (const path of ['/health/live', '/health/ready', '/_health', '/metrics', '/', '/docs'])
    expect((await ask(`${path}?verbose=1`)).status, path).toBeLessThan(300);
  expect((await ask('/_varve/tickets', { method: 'POST', body: {} })).status).toBe(201);
  expect((await ask('/_varve/projections?verbose=1', { method: 'POST', body: { a: 1 } })).status).toBe(405);
  expect((await ask(`${hook}/pause`, { method: 'POST' })).status).toBe(200);
});
