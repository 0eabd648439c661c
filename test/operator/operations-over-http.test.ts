import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { HTTP_OPERATIONS } from '../../services/operator/http-operations.ts';
import {
  type Ask,
  type Callers,
  createAsk,
  createCallers,
  createTokenOver,
} from '../support/access-client.ts';
import { type RunningServer, startServer } from '../support/server.ts';
import { takesMinutes } from '../support/takes-minutes.ts';

const PATH = '/_varve/operations';
const STREAM = { accept: 'text/event-stream' };

let server: RunningServer;
let callers: Callers;
let full: string;

beforeAll(async () => {
  server = await startServer();
  callers = await createCallers(server.url, ['tag.find', 'tag.create']);
  full = await createTokenOver(callers.askAll, { name: 'stream', type: 'full-access' });
  await callers.askAll('/api/tags', { method: 'POST', body: { data: { key: 'one', name: 'one' } } });
});
afterAll(() => server?.dispose());

function runs(ask: Ask, name: string, data?: object, headers = {}) {
  return ask(`${PATH}/${name}`, { method: 'POST', headers, ...(data && { body: { data } }) });
}

/** Returns the text of a stream, which may be cut off when another worker replaces the one that sends it. */
async function progressOf({ body }: Response): Promise<string> {
  let text = '';
  try {
    for await (const bytes of body ?? []) text += Buffer.from(bytes).toString();
  } catch {
    // The caller checks what has arrived.
  }
  return text;
}

/** Returns the events of a stream. */
function eventsOf(text: string): readonly { readonly event: string; readonly data: unknown }[] {
  return [...text.matchAll(/^event: (.*)\ndata: (.*)$/gm)].map(([, event = '', data = '']) => ({
    event,
    data: JSON.parse(data),
  }));
}

describe('operations over HTTP', () => {
  it('are listed with the schemas of their requests, and described by the API', async () => {
    const { body } = await callers.askAll(PATH);
    const names = body.data.map(({ name }: { name: string }) => name);
    expect(names).toEqual([...HTTP_OPERATIONS.keys()]);
    expect(names).toContain('rebuild');
    const rollback = body.data.find(({ name }: { name: string }) => name === 'rollback');
    expect(rollback).toMatchObject({
      destroys: true,
      form: { required: ['confirm'], properties: { confirm: { const: 'rollback' } } },
    });
    const { paths } = (await callers.askAll('/openapi.json')).body;
    expect(Object.keys(paths).filter((path) => path.startsWith(`${PATH}/`))).toEqual(
      names.map((name: string) => `${PATH}/${name}`),
    );
    expect((await callers.ask('/openapi.json')).body.paths[PATH]).toBeUndefined();
  });

  it('answer as JSON, or line by line', async () => {
    const { status, body } = await runs(callers.askAll, 'status');
    expect(status).toBe(200);
    expect(body.data.projections.map(({ name }: { name: string }) => name)).toEqual([
      'content graph',
      'read index',
    ]);
    expect((await runs(callers.askAll, 'rebuild-differences')).body).toEqual({ data: [], meta: {} });
    const verified = await runs(callers.askAll, 'verify-index', {});
    expect(verified.body.data.at(-1)).toMatchObject({ kind: 'progress' });
    const streamed = await runs(callers.askAll, 'verify-index', {}, STREAM);
    expect(streamed.headers.get('content-type')).toContain('text/event-stream');
    const events = eventsOf(streamed.body);
    expect(events[0]).toMatchObject({ event: 'line', data: { kind: 'progress' } });
    expect(events.at(-1)).toEqual({ event: 'done', data: {} });
  });

  it('refuse callers without full access, whether the operation exists or not', async () => {
    const anybody = createAsk(server.url);
    for (const [name, data] of [
      ['status', undefined],
      ['drop', { confirm: 'drop' }],
      ['take-over', { generation: 1 }],
      ['nonsense', {}],
    ] as const) {
      const answers = await Promise.all([callers.ask, anybody].map((ask) => runs(ask, name, data, STREAM)));
      for (const { status, body } of answers) {
        expect(status, name).toBe(403);
        expect(body.error, name).toMatchObject({ name: 'ForbiddenError', message: 'Forbidden' });
      }
    }
    expect((await callers.ask(PATH)).status).toBe(403);
    expect((await runs(callers.askAll, 'nonsense')).status).toBe(404);
    expect((await runs(callers.askAll, 'import', { files: ['/etc/passwd'] })).status).toBe(404);
  });

  it('refuse a wrong request with its path, and a destroying one without its name', async () => {
    const wrong = await runs(callers.askAll, 'interrupt', { wanted: 'stop', more: 1 });
    expect(wrong.status).toBe(400);
    expect(wrong.body.error.details).toMatchObject({
      errors: [{ path: 'data.wanted' }, { path: 'data', message: 'has no more' }],
      accepted: ['wanted'],
    });
    for (const data of [undefined, {}, { confirm: 'rollback' }]) {
      const { status, body } = await runs(callers.askAll, 'drop', data);
      expect(status).toBe(400);
      expect(body.error).toMatchObject({ details: { path: 'data.confirm' } });
    }
  });

  it('verify everything, back it up and export it, in processes of their own', {
    ...takesMinutes('long operations over HTTP'),
    timeout: 300_000,
  }, async () => {
    const verified = await runs(callers.askAll, 'verify', { assets: true });
    expect(verified.body.data.at(-1)).toMatchObject({ kind: 'summary', differences: 0, files: 0 });
    const saved = await runs(callers.askAll, 'backup', { name: 'monday' });
    expect(saved.body.data.log.events).toBeGreaterThan(0);
    expect(existsSync(join(server.data, 'transfer/monday/manifest.json'))).toBe(true);
    expect((await runs(callers.askAll, 'export', { name: 'all.jsonl' })).status).toBe(200);
    expect(readFileSync(join(server.data, 'transfer/all.jsonl'), 'utf8').includes('"key":"one"')).toBe(true);
    const again = await runs(callers.askAll, 'backup', { name: 'monday' });
    expect([again.status, again.body.error.message]).toEqual([
      409,
      expect.stringContaining('exists already'),
    ]);
    const lost = await runs(callers.askAll, 'verify', { head: `1:${'0'.repeat(64)}` });
    expect(lost.body.error.message, 'the words of the command').toBe(
      'the log has another history at position 1: it is not the log with this head',
    );
  });

  it('name files only in the folder of the server', async () => {
    for (const name of [
      '../lock.json',
      '/etc/passwd',
      '..',
      '',
      '.hidden',
      'a/b',
      'a\\b',
      'a\0b',
      'x'.repeat(101),
    ])
      for (const operation of ['backup', 'export', 'import-file']) {
        const confirm = operation === 'import-file' ? { confirm: operation } : {};
        const { status, body } = await runs(callers.askAll, operation, { name, ...confirm });
        expect([status, body.error.details.path], `${operation} ${name}`).toEqual([400, 'data.name']);
      }
    mkdirSync(join(server.data, 'transfer'), { recursive: true });
    const outside = join(server.data, 'transfer/link.jsonl');
    symlinkSync(join(server.data, 'lock.json'), outside);
    const { status, body } = await runs(callers.askAll, 'import-file', {
      name: 'link.jsonl',
      confirm: 'import-file',
    });
    expect([status, body.error.message]).toEqual([
      409,
      expect.stringContaining('there is no file link.jsonl'),
    ]);
  });

  it('import a file of the folder', async () => {
    const line = { type: 'api::tag.tag', data: { key: 'two', name: 'from a file' } };
    mkdirSync(join(server.data, 'transfer'), { recursive: true });
    writeFileSync(join(server.data, 'transfer/tags.jsonl'), `${JSON.stringify(line)}\n`);
    const form = { name: 'tags.jsonl', confirm: 'import-file' };
    const { body } = await runs(callers.askAll, 'import-file', form);
    expect(body.data.at(-1)).toEqual({ kind: 'progress', bytes: expect.any(Number), documents: 1 });
    const found = await callers.askAll('/api/tags?filters[name]=from a file');
    expect(found.body.data).toHaveLength(1);
  });

  it('say in both forms why an operation failed', async () => {
    const { status, body } = await runs(callers.askAll, 'rollback', { confirm: 'rollback' });
    expect(status).toBe(409);
    expect(body.error).toMatchObject({
      code: 'operation-failed',
      message: expect.stringContaining('there is no kept generation'),
    });
    const streamed = await runs(callers.askAll, 'rollback', { confirm: 'rollback' }, STREAM);
    expect(eventsOf(streamed.body)).toEqual([
      { event: 'failed', data: expect.objectContaining({ code: 'operation-failed' }) },
    ]);
  });

  it('rebuild with progress, and remove the kept generation', async () => {
    const answer = await fetch(`${server.url}${PATH}/rebuild`, {
      method: 'POST',
      headers: { ...STREAM, authorization: `Bearer ${full}`, 'content-type': 'application/json' },
      body: JSON.stringify({ data: { graph: true } }),
    });
    expect(await progressOf(answer)).toContain('"phase":"replaying"');
    // At the switch to the next worker the stream may end, a connection may be closed, and a drop is refused.
    const dataOf = (name: string, data?: object) =>
      runs(callers.askAll, name, data)
        .then(({ body }) => body.data)
        .catch(() => null);
    const within = { timeout: 60_000 };
    await expect.poll(async () => (await dataOf('status'))?.rebuild?.phase, within).toBe('done');
    await expect.poll(() => dataOf('drop', { confirm: 'drop' }), within).toEqual([{ number: 1 }]);
    expect((await dataOf('status')).generations).toMatchObject([{ number: 2, state: 'live' }]);
  }, 180_000);
});
