import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MIN_POSITION_HEADER } from '../../services/http/await-position.ts';
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
  it('is in the answer of every write, each time a later one', async () => {
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

  it('of what removes nothing is where nothing was', async () => {
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
  it('of a write that was answered is there at once', async () => {
    const tag = await createTag();
    const answer = await readFrom(positionOf(tag), `/api/tags/${tag.data.documentId}`);
    expect(answer.status).toBe(200);
    expect(await answer.json()).toMatchObject({ data: { documentId: tag.data.documentId } });
  });

  it('of a write to come is waited for', async () => {
    const next = positionOf(await createTag()) + 1n;
    const reads = [readFrom(next), readFrom(next, '/api/users'), readFrom(next, '/openapi.json', 'HEAD')];
    const tag = await createTag();
    expect(positionOf(tag)).toBe(next);
    const answers = await Promise.all(reads);
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    const { data } = (await answers[0]!.json()) as { data: readonly { documentId: string }[] };
    expect(data.map(({ documentId }) => documentId)).toContain(tag.data.documentId);
  });

  it('that is not reached in time is a 503 that says when to ask again, and what is shown', async () => {
    const { headers } = await createTag();
    const position = BigInt(headers.get('varve-position') ?? 0);
    const answer = await readFrom(position + 1_000_000n);
    expect(answer.status).toBe(503);
    expect(answer.headers.get('retry-after')).toBe('1');
    expect(await answer.json()).toEqual({
      data: null,
      error: {
        status: 503,
        name: 'ServiceUnavailableError',
        message: `Position ${position + 1_000_000n} of the log is not shown yet`,
        details: {
          header: 'Varve-Min-Position',
          found: String(position + 1_000_000n),
          shown: String(position),
        },
      },
    });
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

  it('on a write says nothing', async () => {
    const answer = await fetch(`${server.url}/api/tags`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', [MIN_POSITION_HEADER]: '999999999' },
      body: JSON.stringify({ data: { key: 'free', name: 'free' } }),
    });
    expect(answer.status).toBe(201);
  });
});
