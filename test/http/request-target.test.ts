import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readDirectoryHolder } from '../../shared/sqlite/lock-data-directory.ts';
import { type Member, startFleet, type TestFleet } from '../support/fleet.ts';
import { type RunningServer, startServer } from '../support/server.ts';
import { takesMinutes } from '../support/takes-minutes.ts';

/** A request line may only contain a path: every port of every process refuses other targets. */
let fleet: TestFleet;
let follower: Member;
let decoy: RunningServer;
beforeAll(async () => {
  fleet = await startFleet({ size: 2 });
  const leader = await fleet.leader();
  follower = fleet.members.find((each) => each !== leader) as Member;
  decoy = await startServer();
}, 300_000);
afterAll(async () => {
  await fleet?.dispose();
  await decoy?.dispose();
});

const BODY = JSON.stringify({ data: { key: 'x', name: 'x' } });

/** Sends an arbitrary request line. Resolves to the answer's status and text. */
function ask(url: string, line: string): Promise<{ readonly status: number; readonly text: string }> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname);
    let text = '';
    socket.setEncoding('latin1').on('data', (part) => {
      text += part;
    });
    socket.on('error', reject).on('end', () => {
      resolve({ status: Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1]), text });
    });
    socket.write(
      `${line} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\n` +
        `Content-Length: ${BODY.length}\r\n\r\n${BODY}`,
    );
  });
}

function targets(): readonly string[] {
  const absolute = [
    '/api/restaurants',
    '/api/upload',
    '/_varve/leader',
    '/health/live',
    '/metrics',
    '/docs',
    '/nope',
  ];
  return [
    ...absolute.map((path) => decoy.url + path),
    'http://[bad',
    '/api\\..\\_varve\\leader',
    '/api/restaurants\\x',
    '\\\\decoy/api/restaurants',
    '*',
    'decoy:80',
  ];
}

describe('a request target that is not a path', takesMinutes('request targets'), () => {
  it('is refused with 400 on every port of a leader, a standby and their operators', async () => {
    const [one, two] = fleet.members as readonly [Member, Member];
    const channels = [one, two].map(({ data }) => readDirectoryHolder(data)?.channel?.address as string);
    for (const url of [one.server().url, two.server().url, ...channels])
      for (const target of targets())
        for (const method of ['POST', 'GET', 'DELETE']) {
          const { status, text } = await ask(url, `${method} ${target}`);
          expect(status, `${method} ${target} at ${url}`).toBe(400);
          expect(text).not.toContain('"documentId"');
        }
  });

  it('is not forwarded by a standby', async () => {
    const { text } = await ask(decoy.url, 'GET /api/restaurants');
    expect(text).toContain('"total":0');
  });

  it('names the invalid target', async () => {
    const { text } = await ask(follower.server().url, `POST ${decoy.url}/api/restaurants`);
    expect(text).toContain('"name":"BadRequestError"');
    expect(text).toContain(`"found":"${decoy.url}/api/restaurants"`);
  });

  it('includes a host after two slashes: nothing is served there', async () => {
    const { host } = new URL(decoy.url);
    const { status } = await ask(follower.server().url, `POST //${host}/api/restaurants`);
    expect(status).toBe(405);
    expect((await ask(decoy.url, 'GET /api/restaurants')).text).toContain('"total":0');
  });

  it('may be a path whose query string has a backslash', async () => {
    const { status } = await ask(follower.server().url, 'GET /api/restaurants?filters[name][$eq]=a\\b');
    expect(status).toBe(200);
  });
});
