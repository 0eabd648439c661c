import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Ask, type Callers, createAsk, createCallers } from '../support/access-client.ts';
import { type RunningServer, startServer } from '../support/server.ts';

let server: RunningServer;
let nobody: Ask;
let callers: Callers;

beforeAll(async () => {
  server = await startServer();
  nobody = createAsk(server.url);
  callers = await createCallers(server.url, ['tag.find', 'tag.create']);
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
    for (const path of ['/_varve/state', '/_varve/activity', '/_varve/events']) {
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

  it.each(['limit=0', 'limit=501', 'limit=x', 'before=-1', 'after=x', 'unknown=1'])(
    'refuses %s',
    async (query) => {
      const { status, body } = await callers.askAll(`/_varve/events?${query}`);
      expect([status, body.error.name]).toEqual([400, 'ValidationError']);
    },
  );
});
