import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type Ask,
  type Callers,
  createAsk,
  createCallers,
  createTokenOver,
} from '../support/access-client.ts';
import { type RunningServer, startServer } from '../support/server.ts';

let server: RunningServer;
let nobody: Ask;
let callers: Callers;
let full: string;

beforeAll(async () => {
  server = await startServer();
  nobody = createAsk(server.url);
  callers = await createCallers(server.url, ['tag.find', 'tag.create']);
  full = await createTokenOver(callers.askAll, { name: 'stream', type: 'full-access' });
});
afterAll(() => server?.dispose());

/** Returns the files that a page or module names. */
function filesIn(text: string): readonly string[] {
  const linked = [...text.matchAll(/(?:href|src)="(\/_varve\/console\/[^"]+)"/g)].map(
    ([, path = '']) => path,
  );
  const imported = [...text.matchAll(/\b(?:from|import)\s*\(?\s*['"]\.\/([\w.-]+\.(?:ts|js))['"]/g)];
  return [...linked, ...imported.map(([, name]) => `/_varve/console/${name}`)];
}

describe('the console', () => {
  it('is a page without data, with scripts and styles of this server only', async () => {
    const page = await nobody('/_varve/');
    expect(page.status).toBe(200);
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(page.headers.get('content-security-policy')).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    );
    expect(page.body).not.toMatch(
      /<script(?![^>]* src="\/)|<style|style="|\son\w+=|(src|href)="(https?:)?\/\//,
    );
    expect((await callers.askAll('/_varve/')).body).toBe(page.body);
    expect((await nobody('/')).status, 'only in development mode').toBe(404);
  });

  it('serves all files that its modules name, in at most 300 KB', async () => {
    const pending = [...filesIn((await nobody('/_varve/')).body)];
    const seen = new Set<string>();
    let bytes = 0;
    for (let path = pending.pop(); path !== undefined; path = pending.pop()) {
      if (seen.has(path)) continue;
      seen.add(path);
      const { status, headers, body } = await nobody(path);
      expect([path, status, headers.get('x-content-type-options')]).toEqual([path, 200, 'nosniff']);
      expect(headers.get('content-type')).toMatch(/^text\/(javascript|css); charset=utf-8$/);
      expect(headers.get('content-encoding')).toBe('gzip');
      bytes += Number(headers.get('content-length'));
      // The modules of packages were rewritten: no browser finds a bare name.
      expect(body).not.toMatch(/\bfrom\s*['"](preact|htm|@preact)/);
      const again = await fetch(server.url + path, {
        headers: { 'if-none-match': headers.get('etag') ?? '' },
      });
      expect(again.status).toBe(304);
      pending.push(...filesIn(body));
    }
    expect(seen.size).toBeGreaterThan(15);
    expect(bytes).toBeLessThan(300_000);
  });

  it('refuses every other name like an unknown path', async () => {
    const unknown = (await nobody('/_varve/nothing')).body;
    for (const name of [
      'package.json',
      '..%2fregister-console.ts',
      '%2e%2e%2fconsole-files.ts',
      'browser%2fmain.ts',
      'tsconfig.json',
      '__proto__',
      'constructor',
      'main.ts%00',
    ]) {
      const { status, body } = await nobody(`/_varve/console/${name}`);
      expect([name, status, body]).toEqual([name, 404, unknown]);
    }
    expect((await nobody('/_varve/?token=x')).status).toBe(400);
  });
});

describe('what a caller may do', () => {
  it('is listed for each caller, with the attributes that no answer has for those who may write them', async () => {
    const { body: all } = await callers.askAll('/_varve/rights');
    expect(all.data).toMatchObject({ kind: 'full-access', drafts: true, history: true });
    expect(all.data.types['api::tag.tag']).toEqual(['find', 'findOne', 'create', 'update', 'delete']);
    expect(all.data.writeOnly['api::restaurant.restaurant']).toEqual({
      secretPin: { type: 'password' },
      internalNote: { type: 'string' },
    });
    const { body: site } = await callers.ask('/_varve/rights');
    expect(site.data).toEqual({
      kind: 'custom',
      drafts: false,
      history: false,
      types: { 'api::tag.tag': ['find', 'create'] },
      writeOnly: {},
    });
    const { data } = (await nobody('/_varve/rights')).body;
    expect([data.types, data.writeOnly]).toEqual([{}, {}]);
    expect((await callers.ask('/_varve/rights?of=all')).status).toBe(400);
  });
});

describe('what the console shows', () => {
  it('needs full access', async () => {
    const paths = ['state', 'activity', 'events', 'events/1', 'slow-queries', 'streams', 'possible-rights'];
    for (const path of paths.map((name) => `/_varve/${name}`)) {
      const answers = [await nobody(path), await callers.ask(path), await callers.askAll(path)];
      expect(answers.map(({ status }) => status)).toEqual([403, 403, 200]);
    }
  });

  it('is the newest events first, without values', async () => {
    const secret = 'words that only the entry has';
    const made = await callers.askAll('/api/tags', {
      method: 'POST',
      body: { data: { key: 'one', name: secret } },
    });
    const { documentId } = made.body.data;
    const { body } = await callers.askAll('/_varve/events?limit=2');
    expect(body.data).toHaveLength(2);
    expect(BigInt(body.data[0].position)).toBeGreaterThan(BigInt(body.data[1].position));
    const [created] = (await callers.askAll(`/_varve/events?document=${documentId}&type=entry-created`)).body
      .data;
    expect(created).toMatchObject({
      type: 'entry-created',
      entry: { type: 'api::tag.tag', documentId, locale: null },
      actor: { kind: 'token', name: 'all' },
      via: 'create',
    });
    expect(created.changed).toContain('name');
    const whole = JSON.stringify((await callers.askAll('/_varve/events?limit=500')).body);
    expect(whole).not.toContain(secret);
    expect(whole).not.toMatch(/"(hash|secret|password)"/);
  });

  it('is the log in pages, to its first event', async () => {
    const all: string[] = [];
    let before: string | null = '';
    while (before !== null) {
      const { body } = await callers.askAll(
        `/_varve/events?limit=2${before === '' ? '' : `&before=${before}`}`,
      );
      all.push(...body.data.map(({ position }: { position: string }) => position));
      before = body.meta.before;
    }
    const { data } = (await callers.askAll('/_varve/events?limit=500')).body;
    expect(all).toEqual(data.map(({ position }: { position: string }) => position));
    expect((await callers.askAll(`/_varve/events?after=${all[1]}`)).body.data).toHaveLength(1);
  });

  it('is the events of an author and a time', async () => {
    const count = async (query: string) => (await callers.askAll(`/_varve/events?${query}`)).body.data.length;
    expect(await count('actor=all')).toBeGreaterThan(0);
    expect(await count('actor=token')).toBeGreaterThan(0);
    expect(await count('actor=nobody')).toBe(0);
    expect(await count('since=2001-01-01T00:00:00Z')).toBeGreaterThan(0);
    expect(await count('until=2001-01-01T00:00:00%2B01:00')).toBe(0);
  });

  it('is the rights that exist, and the open streams', async () => {
    const { data } = (await callers.askAll('/_varve/possible-rights')).body;
    const tag = data.find(({ uid }: { uid: string }) => uid === 'api::tag.tag');
    expect(tag).toMatchObject({ type: 'tag', actions: expect.arrayContaining(['find', 'create']) });
    expect((await callers.askAll('/_varve/streams')).body.data).toEqual({ open: 0 });
  });

  it('is one event, without private values and secrets, and its effect on rows', async () => {
    const user = { username: 'ada', email: 'ada@example.com', password: 'words of a password', role: 1 };
    expect((await callers.askAll('/api/users', { method: 'POST', body: user })).status).toBe(201);
    const read = async (type: string) => {
      const [{ position }] = (await callers.askAll(`/_varve/events?limit=1&type=${type}`)).body.data;
      return (await callers.askAll(`/_varve/events/${position}`)).body.data;
    };
    const created = await read('entry-created');
    expect(created.data.values).toMatchObject({ username: 'ada', email: 'ada@example.com' });
    expect(created.data.values).not.toHaveProperty('password');
    expect(created.rows).toEqual([{ locale: null, status: 'published', event: 'create' }]);
    const token = await read('token-created');
    expect(token.data).toMatchObject({ name: 'stream', tokenType: 'full-access' });
    expect(JSON.stringify([created, token])).not.toMatch(/"hash"|\$argon|\$2[aby]\$/);
    for (const position of ['0', 'x', '99999'])
      expect((await callers.askAll(`/_varve/events/${position}`)).status).toBe(404);
  });

  it('is a stream of new events', async () => {
    const gone = new AbortController();
    const stream = await fetch(`${server.url}/_varve/events?type=entry-created`, {
      headers: { accept: 'text/event-stream', authorization: `Bearer ${full}` },
      signal: gone.signal,
    });
    expect(stream.headers.get('content-type')).toContain('text/event-stream');
    const made = await callers.askAll('/api/tags', {
      method: 'POST',
      body: { data: { key: 'two', name: 'two' } },
    });
    let text = '';
    for await (const bytes of stream.body ?? []) {
      text += Buffer.from(bytes).toString();
      if (text.includes(made.body.data.documentId)) break;
    }
    gone.abort();
    expect(text).toMatch(/^event: line\ndata: \[\{"position"/m);
    expect((await callers.ask('/_varve/events', { headers: { accept: 'text/event-stream' } })).status).toBe(
      403,
    );
  });

  it.each(['limit=0', 'limit=501', 'limit=x', 'before=-1', 'after=x', 'unknown=1', 'since=x'])(
    'refuses %s',
    async (query) => {
      const { status, body } = await callers.askAll(`/_varve/events?${query}`);
      expect([status, body.error.name]).toEqual([400, 'ValidationError']);
    },
  );
});
