import { cpSync, existsSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { fastDigestBits } from '../../shared/fast-digest.ts';
import { ask } from '../support/hand-over-load.ts';
import { createDataDirectory, type RunningServer, startServer } from '../support/server.ts';
import { startWorkers } from '../support/several-workers.ts';
import { mountSmallDisk } from '../support/small-disk.ts';
import { takesMinutes } from '../support/takes-minutes.ts';

/** Number of rows, large enough that their words are stored. */
const TAGS = 1_100;
const WRITERS = 16;
const NAME = 'api--tag.tag.live';
const KILLS = 12;
const LONG = { ...takesMinutes('several servers that store words'), timeout: 240_000 };

type Tag = { readonly documentId: string; readonly name: string };

describe('words that are stored', LONG, () => {
  let original: string;

  beforeAll(async () => {
    original = createDataDirectory();
    const server = await startServer({ data: original });
    for (let at = 0; at < TAGS; at += WRITERS) {
      const keys = Array.from({ length: Math.min(WRITERS, TAGS - at) }, (_, i) => at + i);
      await Promise.all(keys.map((key) => write(server.url, { key: `k${key}`, name: `word${key} tag` })));
    }
    await server.stop();
  });
  afterAll(() => rmSync(original, { recursive: true, force: true }));

  /** Copies a data directory with the tags. */
  function copy(of = original): string {
    const data = createDataDirectory();
    onTestFinished(() => rmSync(data, { recursive: true, force: true }));
    cpSync(of, data, { recursive: true });
    return data;
  }

  async function start(data: string): Promise<RunningServer> {
    const server = await startServer({ data });
    onTestFinished(() => server.dispose());
    return server;
  }

  it('are complete and equal the words of the rows after two workers have stored them at the same time', async () => {
    const data = copy();
    const first = await startWorkers([], { data });
    await eachWorker(() => expectFound(first.url, 'word7 ', ['word7 tag']));
    await eachWorker(() => expectFound(first.url, 'word8 ', ['word8 tag']));
    await expect.poll(() => isWhole(data)).toBe(true);
    await write(first.url, { key: 'last', name: 'newest tag' });
    expect(await first.stop()).toMatchObject({ code: 0 });
    expect([isWhole(data), partsOf(data)]).toEqual([true, []]);
    const next = await startWorkers([], { data });
    for (const [query, names] of [
      ['newest ', ['newest tag']],
      ['word9 ', ['word9 tag']],
      ['nowhere ', []],
    ] as const)
      await eachWorker(() => expectFound(next.url, query, names));
  });

  it('belong to each directory, while servers run on copies of one directory', async () => {
    const data = copy();
    const before = await start(data);
    await expectFound(before.url, 'word7 ', ['word7 tag']);
    await before.stop();
    expect(isWhole(data)).toBe(true);
    const copied = copy(data);
    const servers = await Promise.all([data, copied].map(start));
    await Promise.all(
      servers.map(async ({ url }, at) => {
        await rename(url, 'word10 tag', `only${at} here`);
        await expectFound(url, `only${at} `, [`only${at} here`]);
        await expectFound(url, `only${1 - at} `, []);
        await expectFound(url, 'word9 ', ['word9 tag']);
      }),
    );
    for (const server of servers) expect(await server.stop()).toMatchObject({ code: 0 });
    // The stored words are older than the edits. Even those of another directory do no harm.
    cpSync(join(copied, 'words'), join(data, 'words'), { recursive: true });
    const { url } = await start(data);
    await expectFound(url, 'only0 ', ['only0 here']);
    for (const query of ['only1 ', 'word10 ']) await expectFound(url, query, []);
  });

  it('are not needed on a full disk, or if nothing can be written', async (context) => {
    const disk = mountSmallDisk(1);
    if (disk === undefined) return context.skip('this process may not mount a tmpfs');
    onTestFinished(disk.remove);
    const data = copy();
    rmSync(join(data, 'words'), { recursive: true, force: true });
    symlinkSync(disk.path, join(data, 'words'));
    disk.fill(20_000);
    for (const name of ['first tag', 'second tag']) {
      const server = await start(data);
      await expectFound(server.url, 'word7 ', ['word7 tag']);
      await write(server.url, { key: name, name });
      await expectFound(server.url, name, [name]);
      const { code, output } = await server.stop();
      expect([code, output.includes('"level":50'), partsOf(data), existsSync(join(disk.path, NAME))]).toEqual(
        [0, false, [], false],
      );
      disk.makeReadOnly();
    }
  });

  it('are correct after the server is killed at any time', async () => {
    const data = copy();
    for (let kill = 0; kill < KILLS; kill++) {
      rmSync(join(data, 'words', NAME), { force: true });
      const server = await start(data);
      await expectFound(server.url, 'word7 ', ['word7 tag']);
      // This search begins to store the words.
      await expectFound(server.url, 'word8 ', ['word8 tag']);
      await write(server.url, { key: `kill${kill}`, name: `kill${kill} tag` });
      await delay(kill * 3);
      await server.stop('SIGKILL');
      const next = await start(data);
      await expectFound(next.url, `kill${kill} `, [`kill${kill} tag`]);
      await expectFound(next.url, 'word9 ', ['word9 tag']);
      await next.stop('SIGKILL');
    }
  });
});

/** Renames a tag. */
async function rename(url: string, from: string, to: string): Promise<void> {
  const { text } = await ask(`${url}/api/tags?filters[name]=${encodeURIComponent(from)}`, false);
  const [tag] = (JSON.parse(text) as { readonly data: readonly Tag[] }).data;
  await write(url, { name: to }, `/${tag?.documentId}`);
}

async function write(url: string, data: object, path = ''): Promise<Tag> {
  const answer = await fetch(`${url}/api/tags${path}`, {
    method: path === '' ? 'POST' : 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ data }),
  });
  const text = await answer.text();
  expect(answer.ok, text).toBe(true);
  return (JSON.parse(text) as { readonly data: Tag }).data;
}

/** Compares the names of the tags that a search finds. It uses a new connection. */
async function expectFound(url: string, query: string, names: readonly string[]): Promise<void> {
  const path = `/api/tags?search=${encodeURIComponent(query)}&typoTolerance=false&pagination[pageSize]=100`;
  const { status, text } = await ask(url + path, false);
  const { data } = JSON.parse(text) as { readonly data: readonly Tag[] };
  expect([query, status, data.map(({ name }) => name)]).toEqual([query, 200, names]);
}

/** Calls `look` four times at once, on separate connections, so that it reaches every worker. */
async function eachWorker(look: () => Promise<void>): Promise<void> {
  await Promise.all(Array.from({ length: 4 }, look));
}

/** Returns true if the words of the tags are stored and match the digest before them. */
function isWhole(data: string): boolean {
  const file = join(data, 'words', NAME);
  if (!existsSync(file)) return false;
  const bytes = readFileSync(file);
  return fastDigestBits(bytes.subarray(8)) === bytes.readBigUInt64LE(0);
}

function partsOf(data: string): readonly string[] {
  return readdirSync(join(data, 'words')).filter((name) => name.endsWith('.part'));
}
