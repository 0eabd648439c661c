import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createAsk, createTokenOver } from '../support/access-client.ts';
import { type Member, startFleet, type TestFleet } from '../support/fleet.ts';
import { sampleOf } from '../support/metrics-client.ts';

/** Writes that reach a standby, with the rights of their callers. */
let fleet: TestFleet;
let leader: Member;
let follower: Member;
const tokens = { full: '', tags: '' };
beforeAll(async () => {
  fleet = await startFleet({ size: 2 });
  leader = await fleet.leader();
  follower = fleet.members.find((each) => each !== leader) as Member;
  const anyone = createAsk(leader.server().url);
  tokens.full = await createTokenOver(anyone, { name: 'full', type: 'full-access' });
  const full = createAsk(leader.server().url, tokens.full);
  tokens.tags = await createTokenOver(full, { name: 'tags', type: 'custom', allow: ['tag.create'] });
}, 300_000);
afterAll(() => fleet?.dispose());

const followerAsks = (token?: string) => createAsk(follower.server().url, token);

async function forwarded(): Promise<number> {
  const { body } = await followerAsks(tokens.full)('/metrics');
  return sampleOf(body, 'varve_forwarded_writes_total') ?? 0;
}

describe('a write that reaches a standby', () => {
  it('is forwarded if its caller has the right', async () => {
    const before = await forwarded();
    const body = { data: { key: 'may', name: 'may' } };
    expect((await followerAsks(tokens.tags)('/api/tags', { method: 'POST', body })).status).toBe(201);
    expect(await forwarded()).toBe(before + 1);
  });

  it('is refused before it is forwarded if its caller lacks the right', async () => {
    const before = await forwarded();
    const form = new FormData();
    form.append('files', new Blob(['x']), 'x.txt');
    const refused: readonly (readonly [string, string, unknown])[] = [
      ['POST', '/api/restaurants', { data: { name: 'x' } }],
      ['PUT', '/api/tags/x', { data: { name: 'x' } }],
      ['DELETE', '/api/tags/x', undefined],
      ['POST', '/api/restaurants/x/actions/publish', undefined],
      ['POST', '/api/users', { username: 'x' }],
      ['DELETE', '/api/users/1', undefined],
      ['POST', '/api/upload', form],
      ['DELETE', '/api/upload/files/1', undefined],
    ];
    for (const token of [undefined, tokens.tags])
      for (const [method, path, body] of refused) {
        const { status } = await followerAsks(token)(path, { method, body });
        expect(status, `${method} ${path}`).toBe(403);
      }
    expect((await followerAsks('A'.repeat(48))('/api/tags', { method: 'POST', body: {} })).status).toBe(401);
    expect(await forwarded()).toBe(before);
  });
});

it('accepts at once a token that the other process has just made', async () => {
  const full = createAsk(leader.server().url, tokens.full);
  for (let n = 0; n < 10; n++) {
    const token = await createTokenOver(full, { name: `new ${n}`, type: 'custom', allow: ['tag.find'] });
    expect((await followerAsks(token)('/api/tags')).status).toBe(200);
  }
});

it('separates the Idempotency-Keys of callers without a token', async () => {
  const full = createAsk(leader.server().url, tokens.full);
  const allow = { data: { allow: ['tag.create', 'file.create'] } };
  expect((await full('/_varve/public', { method: 'PUT', body: allow })).status).toBe(200);
  const post = (member: Member, name: string, token?: string) =>
    createAsk(member.server().url, token)('/api/tags', {
      method: 'POST',
      body: { data: { key: name, name } },
      headers: { 'idempotency-key': 'order-1' },
    });
  const [one, other] = [await post(leader, 'one'), await post(follower, 'other')];
  expect([one.status, other.status]).toEqual([201, 201]);
  // A repeated request is the same write, whichever process gets it.
  expect((await post(follower, 'one')).body).toEqual(one.body);
  expect((await post(leader, 'one', tokens.full)).status).toBe(400);
  const upload = (member: Member, content: string) => {
    const body = new FormData();
    body.append('files', new Blob([content]), 'note.txt');
    const headers = { 'idempotency-key': 'upload-1' };
    return createAsk(member.server().url)('/api/upload', { method: 'POST', body, headers });
  };
  const files = [
    await upload(leader, 'first'),
    await upload(follower, 'second'),
    await upload(leader, 'first'),
  ];
  expect(files.map(({ status }) => status)).toEqual([201, 201, 201]);
  expect(files[2]?.body).toEqual(files[0]?.body);
  expect(files[1]?.body).not.toEqual(files[0]?.body);
});

it('deletes a file although the request has a form', async () => {
  const form = () => {
    const body = new FormData();
    body.append('files', new Blob(['x']), 'x.txt');
    return body;
  };
  const ask = createAsk(follower.server().url, tokens.full);
  const uploaded = await ask('/api/upload', { method: 'POST', body: form() });
  expect(uploaded.status).toBe(201);
  const path = `/api/upload/files/${uploaded.body[0].id}`;
  const deleted = await ask(path, { method: 'DELETE', body: form() });
  expect(deleted.status, JSON.stringify(deleted.body)).toBe(200);
});

it('answers a form that ends before its body', async () => {
  const upload = (body: string) =>
    fetch(`${follower.server().url}/api/upload`, {
      method: 'POST',
      body,
      signal: AbortSignal.timeout(20_000),
      headers: {
        authorization: `Bearer ${tokens.full}`,
        'content-type': 'multipart/form-data; boundary=form',
      },
    });
  const file = '--form\r\ncontent-disposition: form-data; name="files"; filename="a.txt"\r\n\r\na file\r\n';
  const rest = 'nobody reads this'.repeat(20_000);
  expect((await upload(`--form--${rest}`)).status).toBe(400);
  expect((await upload(`${file}--form--\r\n${rest}`)).status).toBe(201);
  const twice =
    '--form--form\r\nContent-Disposition: form-data; name="files"\r\nContent-Type: x\r\n\r\n\r\n--formname=un\r\nContent-Disposition: form-data; name="ref"; filename=""\r\nContent-Type: image/svg+xml\r\n\r\nPNG\r\n\r\n--form--\r\n';
  expect((await upload(twice)).status).toBe(400);
});
