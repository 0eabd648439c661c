import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { runVarve } from '../support/run-varve.ts';
import { createDataDirectory, type RunningServer, spawnVarve, startServer } from '../support/server.ts';
import { mountSmallDisk, type SmallDisk, whyNoSmallDisk } from '../support/small-disk.ts';
import { takesMinutes } from '../support/takes-minutes.ts';

const skipReason = whyNoSmallDisk();
const options = skipReason === undefined ? {} : { skip: true, meta: { skipReason } };

/** The files that are on the small disk. The others are elsewhere. */
type Layout = 'log and graph' | 'log' | 'graph';

const MEGABYTES = 12;

/** A text that is larger than the free space in the files, so that they must grow. */
const BIG = 'x'.repeat(300_000);

function createNoteType(): string {
  const folder = createDataDirectory();
  mkdirSync(join(folder, 'note'));
  const schema = {
    kind: 'collectionType',
    info: { singularName: 'note', pluralName: 'notes', displayName: 'note' },
    options: { draftAndPublish: false },
    attributes: { text: { type: 'text' } },
  };
  writeFileSync(join(folder, 'note', 'schema.json'), JSON.stringify(schema));
  return folder;
}

type Place = {
  readonly disk: SmallDisk;
  readonly start: () => Promise<RunningServer>;
  readonly args: readonly string[];
};

function createPlace(layout: Layout): Place {
  const disk = mountSmallDisk(MEGABYTES);
  if (disk === undefined) throw new Error('nothing can be mounted');
  const contentTypes = createNoteType();
  const elsewhere = createDataDirectory();
  const data = layout === 'log' ? elsewhere : join(disk.path, 'data');
  const log = layout === 'graph' ? join(elsewhere, 'events.db') : join(disk.path, 'events.db');
  const logOptions = ['--event-store', `sqlite:${log}`];
  let running: RunningServer | undefined;
  onTestFinished(async () => {
    await running?.dispose();
    disk.remove();
    for (const folder of [contentTypes, elsewhere]) rmSync(folder, { recursive: true, force: true });
  });
  return {
    disk,
    args: ['--data', data, ...logOptions],
    async start() {
      running = await startServer({ contentTypes, data, arguments: logOptions });
      return running;
    },
  };
}

type Answer = { readonly status: number; readonly message: string };

async function write(url: string, text: string): Promise<Answer> {
  const answer = await fetch(`${url}/api/notes`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ data: { text } }),
  });
  const body = (await answer.json()) as { readonly error?: { readonly message: string } };
  return { status: answer.status, message: body.error?.message ?? '' };
}

async function countNotes(url: string): Promise<number> {
  const answer = await fetch(`${url}/api/notes?pagination[pageSize]=1&fields[0]=documentId`);
  expect(answer.status).toBe(200);
  const body = (await answer.json()) as {
    readonly meta: { readonly pagination: { readonly total: number } };
  };
  return body.meta.pagination.total;
}

/** Writes until a write is refused. Ignores writes that are stored but not shown yet. */
async function writeUntilRefused(url: string): Promise<Answer> {
  for (let n = 0; n < 100; n++) {
    const late = delay(1_500).then(() => 'late' as const);
    const answer = await Promise.race([write(url, `${n} ${BIG}`), late]);
    if (answer === 'late' || answer.status === 201 || answer.status === 202) continue;
    return answer;
  }
  throw new Error('nothing was refused');
}

async function untilWritten(url: string): Promise<void> {
  await expect
    .poll(async () => (await write(url, 'Ada')).status, { timeout: 40_000, interval: 300 })
    .toBe(201);
}

const LAYOUTS = ['log and graph', 'log', 'graph'] as const;
const skip = { ...options, ...takesMinutes('a full disk of the log or the graph alone') };
describe.each(LAYOUTS.map((layout, n) => [layout, n === 0 ? options : skip] as const))(
  'with the disk of the %s full',
  (layout, whether) => {
    it('reads continue, writes are 503 with the reason, and continue when there is space, also after a restart', {
      ...whether,
      timeout: 300_000,
    }, async () => {
      const { disk, start, args } = createPlace(layout);
      const server = await start();
      expect((await write(server.url, 'first')).status).toBe(201);
      disk.fill();
      const refused = await writeUntilRefused(server.url);
      expect(refused).toMatchObject({ status: 503, message: expect.stringMatching(/disk .*is full/) });
      expect(await countNotes(server.url)).toBeGreaterThan(0);
      const { code, output } = await server.stop();
      expect(code).toBe(0);
      expect(output).toContain('"status":503,"code":"disk-full"');
      disk.fill();

      const again = await start();
      expect(await countNotes(again.url)).toBeGreaterThan(0);
      const refusedAgain = await writeUntilRefused(again.url);
      expect(refusedAgain).toMatchObject({ status: 503, message: expect.stringMatching(/disk .*is full/) });
      disk.empty();
      await untilWritten(again.url);
      const notes = await countNotes(again.url);
      expect(await again.stop()).toMatchObject({ code: 0 });

      const verified = await runVarve(['verify', ...args]);
      expect(verified, verified.stdout + verified.stderr).toMatchObject({ code: 0 });
      const last = await start();
      expect(await countNotes(last.url)).toBe(notes);
    });
  },
);

describe('a rebuild', () => {
  const graphs = (args: readonly string[]) =>
    readdirSync(String(args[1]))
      .filter((name) => /^graph-\d/.test(name))
      .sort();
  const startFilled = async () => {
    const place = createPlace('log and graph');
    const { url } = await place.start();
    for (let n = 0; n < 5; n++) expect((await write(url, `${n} ${BIG}`)).status).toBe(201);
    return { ...place, url };
  };

  const long = { ...options, ...takesMinutes('rebuilds on a full disk') };
  it('that fills the disk gives its space back, so that writes continue', long, async () => {
    const { disk, args, url } = await startFilled();
    disk.fill(900_000);
    const failed = await runVarve(['rebuild', '--graph', ...args]);
    expect(failed).toMatchObject({ code: 1, stderr: expect.stringMatching(/the disk of \S+ is full: /) });
    expect(graphs(args)).toEqual([]);
    expect((await write(url, 'Ada')).status).toBe(201);
    disk.empty();
    const again = await runVarve(['rebuild', '--graph', ...args]);
    expect(again).toMatchObject({ code: 0, stdout: expect.stringContaining('generation 2 is live') });
    expect(await countNotes(url)).toBe(6);
  });

  it('can be cancelled on a full disk', long, async () => {
    const { disk, args, url } = await startFilled();
    const slow = spawnVarve(['rebuild', '--graph', '--max-rate', '1', '--json', ...args]);
    await new Promise<void>((resolve) => slow.child.stdout?.once('data', () => resolve()));
    await runVarve(['rebuild', '--pause', ...args]);
    expect(await slow.exited).toMatchObject({ code: 0 });
    expect(graphs(args)).toContain('graph-2.db');
    disk.fill();
    const cancelled = await runVarve(['rebuild', '--cancel', ...args]);
    expect(cancelled, cancelled.stderr).toMatchObject({ code: 0, stdout: 'the rebuild was cancelled\n' });
    expect(graphs(args)).toEqual([]);
    expect((await write(url, 'Ada')).status).toBe(201);
  });
});
