import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Member, startFleet, type TestFleet } from '../support/fleet.ts';
import { readLogFacts } from '../support/log-facts.ts';

/** Writes through the leader and through a process that forwards them, and repetitions of the same writes. */
let fleet: TestFleet;
let leader: Member;
let follower: Member;
beforeAll(async () => {
  fleet = await startFleet({ size: 2 });
  leader = await fleet.leader();
  follower = fleet.members.find((each) => each !== leader) as Member;
});
afterAll(() => fleet.dispose());

type Answer = { readonly status: number; readonly text: string; readonly headers: Headers };

async function send(
  member: Member,
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const json = body === undefined ? {} : { 'content-type': 'application/json' };
  const answer = await fetch(member.server().url + path, {
    method,
    headers: { ...json, ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: answer.status, text: await answer.text(), headers: answer.headers };
}

function documentOf({ text }: Answer): string {
  return (JSON.parse(text) as { data: { documentId: string } }).data.documentId;
}

const keyed = (key: string = randomUUID()) => ({ 'idempotency-key': key });
const named = (name: string, key = name) => ({ data: { key, name } });

/** Returns the leader's number of restaurants with a name. */
async function total(name: string): Promise<number> {
  const { text } = await send(leader, 'GET', `/api/restaurants?filters[name]=${name}`);
  return (JSON.parse(text) as { meta: { pagination: { total: number } } }).meta.pagination.total;
}

describe('a write that reaches a process that is not the leader', () => {
  it('is answered as the leader answers it', async () => {
    const [here, there] = [
      await send(leader, 'POST', '/api/tags?fields=name', { data: { key: 'h', name: 'h' } }),
      await send(follower, 'POST', '/api/tags?fields=name', { data: { key: 't', name: 't' } }),
    ];
    expect(there.status).toBe(201);
    expect(there.text.replace(/"(documentId|id|name)":("[^"]*"|\d+)/g, '$1')).toBe(
      here.text.replace(/"(documentId|id|name)":("[^"]*"|\d+)/g, '$1'),
    );
    const names = ({ headers }: Answer) => [...headers.keys()].sort();
    expect(names(there)).toEqual(names(here));
    expect(BigInt(there.headers.get('varve-position') ?? 0)).toBeGreaterThan(
      BigInt(here.headers.get('varve-position') ?? 0),
    );
  });

  it('is refused as the leader refuses it', async () => {
    const writes = [
      ['POST', '/api/restaurants', { data: { nope: 1 } }],
      ['PUT', '/api/restaurants/nope', { data: {} }],
      ['POST', '/api/restaurants/nope/actions/publish', undefined],
      ['POST', '/api/nope', { data: {} }],
      ['PATCH', '/api/restaurants', { data: {} }],
      ['POST', '/api/users', { username: 'x' }],
    ] as const;
    for (const [method, path, body] of writes) {
      const [here, there] = [
        await send(leader, method, path, body),
        await send(follower, method, path, body),
      ];
      expect(here.status, path).toBeGreaterThanOrEqual(400);
      expect([there.status, there.text], path).toEqual([here.status, here.text]);
    }
  });

  it('may be a large upload, which is forwarded as a stream', async () => {
    const content = new Uint8Array(8_000_000).map((_unused, i) => i % 251);
    const form = new FormData();
    form.append('files', new Blob([content]), 'large.bin');
    const answer = await fetch(`${follower.server().url}/api/upload`, { method: 'POST', body: form });
    expect(answer.status).toBe(201);
    const [file] = (await answer.json()) as { url: string }[];
    const stored = await fetch(`${leader.server().url}${file?.url}`);
    expect(Buffer.compare(Buffer.from(await stored.arrayBuffer()), content)).toBe(0);
  });

  it('does not get its identity from an arbitrary caller', async () => {
    const forged = { 'varve-command': `${randomUUID()}.${'A'.repeat(43)}` };
    for (const [n, member] of [leader, leader, follower, follower].entries()) {
      const body = named('forged', `forged ${n}`);
      expect((await send(member, 'POST', '/api/restaurants', body, forged)).status).toBe(201);
    }
    expect(await total('forged')).toBe(4);
  });
});

describe('Idempotency-Key', () => {
  it('makes one document of a repeated creation, through any process', async () => {
    const headers = keyed();
    const answers = [];
    for (const member of [follower, leader, follower]) {
      answers.push(await send(member, 'POST', '/api/restaurants', named('once'), headers));
    }
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 201]);
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(await total('once')).toBe(1);
  });

  it('makes one document of concurrent creations', async () => {
    const headers = keyed();
    const members = [leader, follower, leader, follower, follower];
    const answers = await Promise.all(
      members.map((member) => send(member, 'POST', '/api/restaurants', named('at-once'), headers)),
    );
    expect(new Set(answers.map(documentOf)).size).toBe(1);
    expect(await total('at-once')).toBe(1);
  });

  it('executes a change, an action and a removal once', async () => {
    const path = `/api/restaurants/${documentOf(await send(leader, 'POST', '/api/restaurants', named('steps')))}`;
    const twice = async (method: string, to: string, body?: unknown) => {
      const headers = keyed();
      const [first, again] = [
        await send(follower, method, to, body, headers),
        await send(leader, method, to, body, headers),
      ];
      expect([again.status, again.text], `${method} ${to}`).toEqual([first.status, first.text]);
      return first.status;
    };
    expect(await twice('PUT', `${path}?status=draft`, { data: { stars: 2 } })).toBe(200);
    expect(await twice('POST', `${path}/actions/publish`)).toBe(200);
    expect(await twice('DELETE', path)).toBe(204);
    const { edits } = await readLogFacts(fleet.eventStore);
    expect(edits.get('steps')).toBe(1);
  });

  it('makes one user, and one file of an upload', async () => {
    const user = { username: 'someone', email: 'someone@example.org', password: 'secret-12', role: 1 };
    const headers = keyed();
    const made = await send(follower, 'POST', '/api/users', user, headers);
    expect(made.status, made.text).toBe(201);
    expect((await send(leader, 'POST', '/api/users', user, headers)).text).toBe(made.text);

    const upload = async (member: Member, content: string, key: string) => {
      const form = new FormData();
      form.append('files', new Blob([content]), 'note.txt');
      const sent = { method: 'POST', body: form, headers: keyed(key) };
      const answer = await fetch(`${member.server().url}/api/upload`, sent);
      return { status: answer.status, text: await answer.text() };
    };
    const key = randomUUID();
    const first = await upload(follower, 'a note', key);
    expect(first.status).toBe(201);
    expect(await upload(leader, 'a note', key)).toEqual(first);
    expect((await upload(leader, 'another note', key)).status).toBe(422);
  });

  it('is refused with another request, and if it is invalid', async () => {
    const headers = keyed();
    const first = await send(leader, 'POST', '/api/restaurants', named('first'), headers);
    expect(first.status).toBe(201);
    for (const [method, path, body] of [
      ['POST', '/api/restaurants', named('second')],
      ['POST', '/api/restaurants?status=draft', named('first')],
      ['PUT', `/api/restaurants/${documentOf(first)}`, named('first')],
    ] as const) {
      const answer = await send(follower, method, path, body, headers);
      expect([answer.status, answer.text], path).toEqual([
        422,
        expect.stringContaining('This Idempotency-Key was used with another request'),
      ]);
    }
    const none = await send(leader, 'POST', '/api/restaurants', named('none'), keyed('no key'));
    expect([none.status, none.text]).toEqual([400, expect.stringContaining('Idempotency-Key')]);
    expect(await total('second')).toBe(0);
  });

  it('is not used up by a refused request: a corrected one may use it', async () => {
    const headers = keyed();
    expect((await send(leader, 'POST', '/api/restaurants', { data: { nope: 1 } }, headers)).status).toBe(400);
    expect((await send(leader, 'POST', '/api/restaurants', named('corrected'), headers)).status).toBe(201);
  });
});
