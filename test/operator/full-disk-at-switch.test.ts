import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { isEnded, type Rebuild } from '../../projections/generations/generation.ts';
import { lookAtGenerations } from '../../projections/generations/generation-store.ts';
import { freeBytes } from '../../shared/free-disk.ts';
import { elasticsearchUrl, needsElasticsearch } from '../support/elasticsearch.ts';
import { createKitchenTypes } from '../support/kitchen.ts';
import { removeIndices } from '../support/remove-indices.ts';
import { runVarve } from '../support/run-varve.ts';
import { type RunningServer, startServer } from '../support/server.ts';
import { mountSmallDisk, type SmallDisk, whyNoSmallDisk } from '../support/small-disk.ts';
import { takesMinutes } from '../support/takes-minutes.ts';

/** Rebuilds whose disk becomes full when the new generation is ready to serve. They end with the old generation or with the new one. */
const skipReason = whyNoSmallDisk();
const needsDisk = skipReason === undefined ? {} : { skip: true, meta: { skipReason } };
const MEGABYTES = 24;
const FULL_FOR = 30_000;
/** A server that could not record the end gives the rebuild up after 75 s. */
const ENDED_WITHIN = 180_000;
const SERVES_WITHIN = 60_000;

type Place = { readonly disk: SmallDisk; readonly server: RunningServer; readonly own: readonly string[] };

async function startOnSmallDisk(index: readonly string[]): Promise<Place> {
  const disk = mountSmallDisk(MEGABYTES);
  if (disk === undefined) throw new Error('nothing can be mounted');
  const contentTypes = createKitchenTypes();
  const data = join(disk.path, 'data');
  const server = await startServer({ contentTypes, data, arguments: index });
  onTestFinished(async () => {
    await server.dispose();
    disk.remove();
    rmSync(contentTypes, { recursive: true, force: true });
  });
  return { disk, server, own: ['--data', data, ...index] };
}

/** Fills the disk, and again when somebody frees space, until the returned function is called. */
function keepFull(disk: SmallDisk): () => void {
  const fill = () => {
    try {
      if (freeBytes(disk.path) > 0) disk.fill();
    } catch {
      // The server was quicker.
    }
  };
  fill();
  const timer = setInterval(fill, 3);
  return () => {
    clearInterval(timer);
    disk.empty();
  };
}

async function create(url: string, name: string): Promise<number> {
  const answer = await fetch(`${url}/api/cooks`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ data: { name } }),
  });
  return answer.status;
}

async function names(url: string): Promise<readonly string[]> {
  const answer = await fetch(`${url}/api/cooks?sort=name`);
  const { data } = (await answer.json()) as { readonly data: readonly { readonly name: string }[] };
  return data.map(({ name }) => name);
}

/** Fills the disk so many milliseconds after the new generation is ready, until the command has ended. */
async function rebuildOntoFullDisk({ disk, own }: Place, after: number): Promise<Rebuild | undefined> {
  const record = lookAtGenerations(String(own[1]));
  onTestFinished(() => record.close());
  let isOver = false;
  const rebuilt = runVarve(['rebuild', '--graph', ...own]).finally(() => {
    isOver = true;
  });
  while (!isOver && record.rebuild()?.phase !== 'taking over') await delay(2);
  await delay(after);
  const end = keepFull(disk);
  const { stdout, stderr } = await Promise.race([
    rebuilt,
    delay(FULL_FOR, { stdout: 'the command has not ended', stderr: '' }),
  ]);
  end();
  console.log(`full after ${after} ms: ${(stderr || stdout).trim().split('\n').at(-1)}`);
  const last = () => record.rebuild()?.phase ?? 'verifying';
  await expect.poll(() => isEnded(last()), { timeout: ENDED_WITHIN, interval: 200 }).toBe(true);
  await rebuilt;
  return record.rebuild();
}

async function expectOldOrNew(index: readonly string[], after: number): Promise<void> {
  const place = await startOnSmallDisk(index);
  const { server, own } = place;
  for (const name of ['a', 'b', 'c']) expect(await create(server.url, name)).toBe(201);
  const rebuild = await rebuildOntoFullDisk(place, after);
  const isNew = rebuild?.phase === 'done';
  if (!isNew) expect(rebuild?.message).toMatch(/full|disk I\/O error/);
  const written = () => create(server.url, 'd').catch(() => 0);
  await expect.poll(written, { timeout: SERVES_WITHIN, interval: 500 }).toBeOneOf([201, 202]);
  await expect.poll(() => names(server.url)).toEqual(expect.arrayContaining(['a', 'b', 'c', 'd']));
  const graphs = () => readdirSync(server.data).filter((name) => /^graph(-\d+)?\.db$/.test(name));
  await expect
    .poll(() => graphs().sort())
    .toEqual(isNew ? [expect.stringMatching(/^graph-\d\.db$/), 'graph.db'] : ['graph.db']);
  const verified = await runVarve(['verify', ...own]);
  expect(verified, verified.stdout + verified.stderr).toMatchObject({ code: 0 });
  const again = await runVarve(['rebuild', '--graph', ...own]);
  expect(again, again.stderr).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/generation \d is live/),
  });
}

describe('a disk that is full when a rebuild switches over', needsDisk, () => {
  const options = { ...takesMinutes('a full disk at the switch of a rebuild'), timeout: 600_000 };
  // All at once: a server that gives up mostly waits.
  it('embedded index, 0, 300 and 450 ms after the generation is ready', options, async () => {
    await Promise.all([0, 300, 450].map((after) => expectOldOrNew([], after)));
  });
});

const long = takesMinutes('a full disk at the switch of a rebuild on Elasticsearch');
describe('a disk that is full when a rebuild on Elasticsearch switches over', {
  ...(await needsElasticsearch(long)),
  ...needsDisk,
}, () => {
  it('0 and 1,000 ms after the generation is ready', { timeout: 600_000 }, async () => {
    const url = await elasticsearchUrl();
    const onElasticsearch = async (after: number) => {
      const space = `full_disk_${process.pid}_${after}`;
      onTestFinished(() => removeIndices(url, space));
      await expectOldOrNew(['--read-index', url, '--space', space], after);
    };
    await Promise.all([0, 1_000].map(onElasticsearch));
  });
});
