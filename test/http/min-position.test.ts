import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { MIN_POSITION_HEADER } from '../../services/http/requests/await-position.ts';
import { createAsk, createTokenOver } from '../support/access-client.ts';
import { type ApiClient, createApiClient } from '../support/api-client.ts';
import { type RunningServer, startServer } from '../support/server.ts';
import { postForm, uploadForm } from '../support/upload-client.ts';

let server: RunningServer;
let api: ApiClient;
beforeAll(async () => {
  server = await startServer({
    arguments: ['--min-position-wait', '2000', '--cors', 'https://example.org'],
  });
  api = createApiClient(server.url);
});
afterAll(() => server?.dispose());

const positionOf = ({ headers }: { readonly headers: Headers }) =>
  BigInt(headers.get('varve-position') ?? -1);

const readFrom = (position: unknown, path = '/api/tags', method = 'GET') =>
  fetch(server.url + path, { method, headers: { [MIN_POSITION_HEADER]: String(position) } });

let keys = 0;
const createTag = async () => {
  keys += 1;
  return api.call<{ documentId: string }>('POST', '/api/tags', { data: { key: `tag-${keys}`, name: 'a' } });
};

describe('Varve-Position', () => {
  it('is in the answer of every write, and grows each time', async () => {
    const tag = await createTag();
    const path = `/api/tags/${tag.data.documentId}`;
    const chef = await api.call<{ documentId: string }>('POST', '/api/chefs?status=draft', {
      data: { key: 'c', name: 'c' },
    });
    const user = { username: 'ada', email: 'ada@example.org', password: 'a long secret', role: 1 };
    const form = await postForm(server, uploadForm([{ name: 'a.txt', bytes: 'a' }]));
    const [file] = (await form.json()) as readonly { id: number }[];
    const writes = [
      tag,
      chef,
      form,
      await api.call('PUT', path, { data: { name: 'b' } }),
      await api.call('DELETE', path),
      await api.call('POST', `/api/chefs/${chef.data.documentId}/actions/publish`),
      await api.call('POST', '/api/users', user),
      await api.call('PUT', '/api/users/1', { blocked: true }),
      await api.call('DELETE', '/api/users/1'),
      await api.call('DELETE', `/api/upload/files/${file!.id}`),
    ];
    expect(writes.map(({ status }) => status)).toEqual([
      ...[201, 201, 201, 200, 204, 200, 201, 200, 200, 200],
    ]);
    const positions = writes.map(positionOf);
    expect(positions.every((position, i) => i === 0 || position > (positions[i - 1] ?? 0n))).toBe(true);
  });

  it('of a deletion without effect is the current position', async () => {
    const before = positionOf(await createTag());
    expect(positionOf(await api.call('DELETE', '/api/tags/nope'))).toBeGreaterThanOrEqual(before);
  });

  it('may be read by pages of other origins', async () => {
    const answer = await fetch(`${server.url}/api/tags`, { headers: { origin: 'https://example.org' } });
    expect(answer.headers.get('access-control-expose-headers')).toContain('Varve-Position');
    const preflight = await fetch(`${server.url}/api/tags`, {
      method: 'OPTIONS',
      headers: {
        origin: 'https://example.org',
        'access-control-request-method': 'GET',
        'access-control-request-headers': MIN_POSITION_HEADER,
      },
    });
    expect(preflight.headers.get('access-control-allow-headers')).toContain(MIN_POSITION_HEADER);
  });
});

describe('Varve-Min-Position', () => {
  it('of an answered write needs no wait', async () => {
    const tag = await createTag();
    const answer = await readFrom(positionOf(tag), `/api/tags/${tag.data.documentId}`);
    expect(answer.status).toBe(200);
    expect(await answer.json()).toMatchObject({ data: { documentId: tag.data.documentId } });
  });

  it('that the log has not reached is a 400, without an entry in the error log', async () => {
    const last = positionOf(await createTag());
    for (const beyond of [last + 1n, last + 1_000_000n, 18_446_744_073_709_551_616n]) {
      const answer = await readFrom(beyond);
      expect(answer.status).toBe(400);
      expect(await answer.json()).toEqual({
        data: null,
        error: {
          status: 400,
          name: 'ValidationError',
          message: `The log has not reached position ${beyond}`,
          details: {
            header: 'Varve-Min-Position',
            found: String(beyond),
            accepted: 'the Varve-Position of a write to this log',
          },
          code: 'position-unknown',
        },
      });
    }
    expect(server.output()).not.toMatch(/"level":[456]0|at async/);
  });

  it.each(['', '-1', '1.5', 'abc', '0x10', '1, 2', '1'.repeat(21)])('%j is a 400', async (header) => {
    const answer = await readFrom(header);
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({
      error: {
        name: 'ValidationError',
        details: { header: 'Varve-Min-Position', found: header, accepted: expect.any(String) },
      },
    });
  });

  it('on a write is ignored', async () => {
    const answer = await fetch(`${server.url}/api/tags`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', [MIN_POSITION_HEADER]: '999999999' },
      body: JSON.stringify({ data: { key: 'free', name: 'free' } }),
    });
    expect(answer.status).toBe(201);
  });
});

describe('Varve-Min-Position with tokens', () => {
  it('reveals nothing to callers without rights', async () => {
    const own = await startServer({ arguments: ['--min-position-wait', '2000'] });
    onTestFinished(() => own.dispose());
    const token = await createTokenOver(createAsk(own.url), { name: 'one', type: 'read-only' });
    const ask = (position: string, authorization: string) =>
      fetch(`${own.url}/api/tags`, {
        headers: { [MIN_POSITION_HEADER]: position, ...(authorization === '' ? {} : { authorization }) },
      });
    expect((await ask('1', `Bearer ${token}`)).status).toBe(200);
    expect((await ask('999999', `Bearer ${token}`)).status).toBe(400);
    for (const [authorization, status] of [
      ['', 403],
      [`Bearer ${token.slice(0, -1)}x`, 401],
    ] as const) {
      const answers = await Promise.all(['1', '999999'].map((position) => ask(position, authorization)));
      expect(answers.map((answer) => answer.status)).toEqual([status, status]);
      const [reached, beyond] = await Promise.all(answers.map((answer) => answer.text()));
      expect(beyond).toBe(reached);
      expect(beyond).not.toContain('osition');
    }
  });
});
