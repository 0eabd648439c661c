import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createAsk, createTokenOver } from '../support/access-client.ts';
import { leaderOf, type Member, startMember } from '../support/fleet.ts';
import { createDataDirectory, type RunningServer, startServer } from '../support/server.ts';
import { takesMinutes } from '../support/takes-minutes.ts';

/** A follower reaches its leader through a proxy that records the requests and can change the answers. */
const folder = createDataDirectory();
const eventStore = `sqlite:${join(folder, 'events.db')}`;
const LIMIT = 60;
const wire = { requests: '', answer: (text: string) => text };
let proxy: Server;
let leader: Member;
let follower: Member;
let stranger: RunningServer;
let token: string;
const sockets = new Set<Socket>();

beforeAll(async () => {
  let target = 0;
  proxy = createServer((near) => {
    const far = connect(target, '127.0.0.1');
    for (const socket of [near, far]) sockets.add(socket.on('error', () => {}));
    near.on('data', (part) => {
      wire.requests += part.toString('latin1');
      far.write(part);
    });
    far.on('data', (part) => near.write(wire.answer(part.toString('latin1')), 'latin1'));
    near.on('close', () => far.destroy());
    far.on('close', () => near.destroy());
  }).listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const { port } = proxy.address() as { readonly port: number };
  const options = (name: string, ...more: readonly string[]) => ({
    data: join(folder, name),
    arguments: ['--event-store', eventStore, '--rate-limit', String(LIMIT), ...more],
  });
  leader = await startMember('leader', options('leader', '--advertise', `http://127.0.0.1:${port}`));
  target = Number(new URL(leader.server().url).port);
  await leaderOf([leader]);
  follower = await startMember('follower', options('follower'));
  stranger = await startServer();
  token = await createTokenOver(createAsk(leader.server().url), { name: 'full', type: 'full-access' });
}, 300_000);
afterAll(async () => {
  await Promise.all([leader?.end('SIGKILL'), follower?.end('SIGKILL'), stranger?.dispose()]);
  for (const socket of sockets) socket.destroy();
  proxy?.close();
});

const write = (name: string, headers: Readonly<Record<string, string>> = {}) =>
  createAsk(follower.server().url, token)('/api/tags', {
    ...{ method: 'POST', headers },
    body: { data: { key: name, name } },
  });
const total = async (name: string): Promise<number> => {
  const path = `/api/tags?filters[name]=${name}`;
  return (await createAsk(leader.server().url, token)(path)).body.meta.pagination.total;
};

/** Returns the bytes of the last write that the proxy recorded. */
function recorded(): string {
  const at = wire.requests.lastIndexOf('POST /api/tags HTTP/1.1');
  expect(at).toBeGreaterThanOrEqual(0);
  return wire.requests.slice(at);
}

function replay(url: string, request: string): Promise<number> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname).on('error', reject);
    socket.once('data', (part) => {
      resolve(Number(/^HTTP\/1\.1 (\d+)/.exec(part.toString())?.[1]));
      socket.destroy();
    });
    socket.write(request, 'latin1');
  });
}

describe('a write on the wire between two processes', () => {
  it('is not accepted twice: by its leader, by another process, or as another request', async () => {
    expect((await write('once')).status).toBe(201);
    const request = recorded();
    expect(request).toContain('varve-command: 2.');
    expect(await replay(leader.server().url, request)).toBe(400);
    expect(await replay(follower.server().url, request)).toBe(400);
    expect(await replay(stranger.url, request)).toBeGreaterThanOrEqual(400);
    expect(await replay(leader.server().url, request.replace('"once"', '"ecno"'))).toBe(400);
    expect(await replay(leader.server().url, request.replace('/api/tags', '/api/chefs'))).toBe(400);
    expect([await total('once'), await total('ecno')]).toEqual([1, 0]);
  });

  it('rejects a changed answer, and is still executed once', async () => {
    let changed = 0;
    wire.answer = (text) => {
      if (!text.includes('201 Created') || changed > 2) return text;
      changed++;
      return text.replace('"changed"', '"CHANGED"');
    };
    const { status, body } = await write('changed');
    wire.answer = (text) => text;
    expect([status, body.data.name]).toEqual([201, 'changed']);
    expect(changed).toBeGreaterThan(0);
    expect(await total('changed')).toBe(1);
  });

  it(
    'is executed once if its standby is killed before the answer and the client repeats it',
    takesMinutes('a follower that is killed'),
    async () => {
      const headers = { 'idempotency-key': randomUUID() };
      let isLost = false;
      wire.answer = (text) => {
        isLost ||= text.includes('201 Created');
        return isLost ? '' : text;
      };
      const lost = write('killed', headers).catch(() => 'lost');
      while (!isLost) await new Promise((resolve) => setTimeout(resolve, 10));
      await follower.end('SIGKILL');
      expect(await lost).toBe('lost');
      wire.answer = (text) => text;
      await follower.start();
      expect((await write('killed', headers)).status).toBe(201);
      expect(await total('killed')).toBe(1);
    },
  );

  it('does not lift the rate limit when it is repeated', async () => {
    expect((await write('limit')).status).toBe(201);
    const request = recorded();
    const answers = [];
    for (let n = 0; n < LIMIT + 20; n++) answers.push(await replay(leader.server().url, request));
    expect(answers.at(-1)).toBe(429);
    // Only the follower counts the writes of its clients, and the leader does not.
    expect((await write('after')).status).toBe(201);
  });
});
