import { createServer, type IncomingMessage, type Server } from 'node:http';
import { expect, it, onTestFinished } from 'vitest';
import { createAsk, createTokenOver } from '../support/access-client.ts';
import { startFleet } from '../support/fleet.ts';
import { takesMinutes } from '../support/takes-minutes.ts';

type Seen = { readonly method: string; readonly url: string; readonly authorization: string | undefined };

/** Listens on the port of a leader that was killed, claims to be that leader, and accepts every write. */
async function startImpostor(url: string, presence: string, seen: Seen[]): Promise<Server> {
  const server = createServer((request: IncomingMessage, response) => {
    const { method = '', url: path = '', headers } = request;
    seen.push({ method, url: path, authorization: headers.authorization });
    response.setHeader('content-type', 'application/json');
    if (method === 'GET') return response.end(presence);
    response.writeHead(201).end(JSON.stringify({ data: { documentId: 'taken' } }));
  });
  const { hostname, port } = new URL(url);
  await new Promise<void>((resolve, reject) => {
    server.on('error', reject).listen(Number(port), hostname, resolve);
  });
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return server;
}

it('a standby sends no write and no token to it, whatever it answers as the leader', {
  ...takesMinutes('a false leader'),
  timeout: 300_000,
}, async () => {
  const fleet = await startFleet({ size: 2 });
  onTestFinished(() => fleet.dispose());
  const leader = await fleet.leader();
  const follower = fleet.members.find((each) => each !== leader);
  if (follower === undefined) throw new Error('there is no follower');
  const { url } = leader.server();
  const token = await createTokenOver(createAsk(url), { name: 'full', type: 'full-access' });
  const ask = createAsk(follower.server().url, token);
  const write = (name: string) => ask('/api/tags', { method: 'POST', body: { data: { key: name, name } } });
  expect((await write('before')).status).toBe(201);

  const presence = JSON.stringify((await createAsk(url)('/_varve/leader')).body);
  // The follower is paused, so that it does not notice that the leader is gone.
  follower.server().signal('SIGSTOP');
  await leader.end('SIGKILL');
  const seen: Seen[] = [];
  await startImpostor(url, presence, seen);
  follower.server().signal('SIGCONT');

  const answers = await Promise.all(['a', 'b', 'c'].map(write));
  expect(answers.map(({ status }) => status)).toEqual([201, 201, 201]);
  expect(answers.map(({ body }) => body.data.documentId)).not.toContain('taken');
  expect((await ask('/api/tags?fields=name&sort=name')).body.meta.pagination.total).toBe(4);
  // The follower asked the impostor, which could not prove that it shares the log.
  expect(seen.length).toBeGreaterThan(0);
  expect(seen.filter(({ method, authorization }) => method !== 'GET' || authorization !== undefined)).toEqual(
    [],
  );
  expect(seen.filter((request) => request.url !== '/_varve/leader')).toEqual([]);
});
