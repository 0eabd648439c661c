import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createAsk } from '../support/access-client.ts';
import { createDataDirectory, type RunningServer, startServer } from '../support/server.ts';
import { takesMinutes } from '../support/takes-minutes.ts';

const CHANGES = Number(process.env['VARVE_MIRROR_CHANGES'] ?? 300);
/** Number of kills of the source, and also of the mirror. */
const KILLS = Number(process.env['VARVE_MIRROR_KILLS'] ?? 3);
const TIMEOUT_MS = 120_000 + CHANGES * 200 + KILLS * 20_000;
const TYPES = 'api::tag.tag=tags,api::article.article=articles';

/** Writes the program of docs/mirroring.md to a file. */
function writeProgram(folder: string): string {
  const page = readFileSync(fileURLToPath(new URL('../../docs/mirroring.md', import.meta.url)), 'utf8');
  const code = /```js\n(.*?)```/s.exec(page)?.[1];
  const file = join(folder, 'mirror.mjs');
  writeFileSync(file, code ?? '');
  return file;
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { readonly port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Returns the content that a server shows, without the ids and times that each server chooses itself. */
async function contentOf(url: string): Promise<readonly string[]> {
  const rows: string[] = [];
  for (const path of ['tags', 'articles']) {
    for (let page = 1, pages = 1; page <= pages; page++) {
      const query = `sort=key&pagination[pageSize]=100&pagination[page]=${page}`;
      const { status, body } = await createAsk(url)(`/api/${path}?${query}`);
      expect(status).toBe(200);
      pages = body.meta.pagination.pageCount;
      for (const { id, documentId, createdAt, updatedAt, publishedAt, ...values } of body.data)
        rows.push(`${path} ${JSON.stringify(values)}`);
    }
  }
  return rows;
}

describe('a mirror', takesMinutes('a mirror over kill -9'), () => {
  it(
    `shows the content of its source after ${CHANGES} changes and ${KILLS} kills of each`,
    async () => {
      const folder = mkdtempSync(join(tmpdir(), 'varve-mirror-'));
      const data = createDataDirectory();
      const port = await freePort();
      const begin = () => startServer({ data, arguments: ['--port', String(port)] });
      let source: RunningServer = await begin();
      const target = await startServer();
      const program = writeProgram(folder);
      const run = () =>
        spawn(process.execPath, [program, source.url, target.url, join(folder, 'state.json'), TYPES], {
          stdio: ['ignore', 'ignore', 'inherit'],
        });
      let mirror: ChildProcess = run();
      onTestFinished(async () => {
        mirror.kill('SIGKILL');
        await Promise.all([source.dispose(), target.dispose()]);
        for (const each of [folder, data]) rmSync(each, { recursive: true, force: true });
      });
      const documents: { readonly path: string; readonly documentId: string }[] = [];
      const every = Math.max(1, Math.floor(CHANGES / (KILLS + 1)));
      for (let change = 0; change < CHANGES; change++) {
        await changeOne(createAsk(source.url), documents, change);
        if (change % every !== every - 1 || change > every * KILLS) continue;
        mirror.kill('SIGKILL');
        await source.stop('SIGKILL');
        source = await begin();
        mirror = run();
      }
      const wanted = await contentOf(source.url);
      expect(wanted.length).toBeGreaterThan(CHANGES / 20);
      const deadline = performance.now() + TIMEOUT_MS / 2;
      while (performance.now() < deadline) {
        if ((await contentOf(target.url)).join('\n') === wanted.join('\n')) break;
        await delay(200);
      }
      expect(await contentOf(target.url)).toEqual(wanted);
    },
    TIMEOUT_MS,
  );
});

type Documents = { readonly path: string; readonly documentId: string }[];

async function changeOne(ask: ReturnType<typeof createAsk>, documents: Documents, change: number) {
  const kind = Math.floor(Math.random() * 10);
  const at = Math.floor(Math.random() * documents.length);
  const found = documents[at];
  if (found === undefined || kind < 4) {
    const path = change % 2 === 0 ? '/api/tags' : '/api/articles';
    const values = path === '/api/tags' ? { name: 'new' } : { title: 'new' };
    const { status, body } = await ask(path, {
      method: 'POST',
      body: { data: { key: `k${change}`, ...values } },
    });
    expect(status).toBe(201);
    documents.push({ path, documentId: body.data.documentId });
    return;
  }
  const url = `${found.path}/${found.documentId}`;
  const data = found.path === '/api/tags' ? { name: `n${change}` } : { title: `t${change}` };
  const isDraft = found.path === '/api/articles' && kind === 8;
  if (kind === 9) {
    documents.splice(at, 1);
    await ask(url, { method: 'DELETE' });
  } else if (kind === 7 && found.path === '/api/articles') {
    await ask(`${url}/actions/unpublish`, { method: 'POST' });
  } else {
    const { status } = await ask(`${url}${isDraft ? '?status=draft' : ''}`, {
      method: 'PUT',
      body: { data },
    });
    expect(status).toBe(200);
  }
}
