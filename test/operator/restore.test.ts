import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { createAsk } from '../support/access-client.ts';
import { runVarve } from '../support/run-varve.ts';
import { createDataDirectory, spawnVarve, startServer } from '../support/server.ts';
import { takesMinutes } from '../support/takes-minutes.ts';

/** A backup of an earlier release. Its manifest has digests of the graph's internal numbers, which no replay can reproduce. */
const FORMAT_2 = fileURLToPath(new URL('backup-format-2', import.meta.url));

function newFolder(): string {
  const folder = createDataDirectory();
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

function writeType(folder: string, name: string, attributes: object): void {
  mkdirSync(join(folder, name), { recursive: true });
  const info = { singularName: name, pluralName: `${name}s`, displayName: name };
  const schema = { kind: 'collectionType', info, options: { draftAndPublish: false }, attributes };
  writeFileSync(join(folder, name, 'schema.json'), JSON.stringify(schema));
}

const relationTo = (name: string) => ({
  type: 'relation',
  relation: 'manyToOne',
  target: `api::${name}.${name}`,
});

async function succeed(...args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await runVarve(args);
  expect(code, stdout + stderr).toBe(0);
  return stdout;
}

it(
  'restores a log with content types of different times',
  takesMinutes('a restored history of content types'),
  async () => {
    const [contentTypes, folder] = [newFolder(), newFolder()];
    const data = join(folder, 'data');
    writeType(contentTypes, 'plate', { name: { type: 'string' } });
    writeType(contentTypes, 'cook', { name: { type: 'string', unique: true }, plate: relationTo('plate') });
    const first = await startServer({ contentTypes, data });
    onTestFinished(() => first.dispose());
    await first.stop();
    writeType(contentTypes, 'apron', { name: { type: 'string' }, cook: relationTo('cook') });
    writeType(contentTypes, 'plate', { name: { type: 'string' }, apron: relationTo('apron') });
    const second = await startServer({ contentTypes, data });
    onTestFinished(() => second.dispose());
    const body = { data: { name: 'White' } };
    expect((await createAsk(second.url)('/api/aprons', { method: 'POST', body })).status).toBe(201);
    await second.stop();
    expect(await succeed('verify', '--data', data)).toContain('no differences');
    await succeed('backup', join(folder, 'backup'), '--data', data);
    expect(await succeed('restore', join(folder, 'backup'), '--data', join(folder, 'restored'))).toContain(
      'a replay of the log gives the same content',
    );
  },
);

it('restores a backup of an earlier format without comparing the graph', async () => {
  const data = join(newFolder(), 'data');
  const restored = await succeed('restore', FORMAT_2, '--data', data);
  expect(restored).toContain('12 events up to position 12');
  expect(restored).toContain('the content graph was not compared');
  expect(await succeed('verify', '--data', data)).toContain('no differences');
});

/** Creates a backup with a token and an uploaded file, whose content is `A_FILE`. */
async function backUpWithFile(): Promise<{ readonly backup: string; readonly url: string }> {
  const server = await startServer();
  onTestFinished(() => server.dispose());
  const form = new FormData();
  form.append('files', new Blob([A_FILE], { type: 'text/plain' }), 'a.txt');
  const [file] = (await createAsk(server.url)('/api/upload', { method: 'POST', body: form })).body;
  const backup = join(newFolder(), 'backup');
  await succeed('backup', backup, '--data', server.data);
  return { backup, url: file.url };
}

const A_FILE = 'a file';

async function readUpload(url: string, data: string, assets: string): Promise<string> {
  const server = await startServer({ data, arguments: ['--assets', assets] });
  onTestFinished(() => server.dispose());
  const text = await (await fetch(server.url + url)).text();
  await server.stop();
  return text;
}

it(
  'can be repeated after it failed when everything was checked',
  takesMinutes('restores that failed'),
  async () => {
    const { backup, url } = await backUpWithFile();
    const folder = newFolder();
    const [data, blocked, assets] = [join(folder, 'data'), join(folder, 'a-file'), join(folder, 'assets')];
    writeFileSync(blocked, '');
    const failed = await runVarve(['restore', backup, '--data', data, '--assets', blocked]);
    expect(failed.code, failed.stderr).toBe(1);
    // A restore that was killed between its last steps leaves these files as well.
    writeFileSync(join(data, 'access.key'), 'half a key');
    writeFileSync(join(data, 'graph.db'), 'a graph');
    await succeed('restore', backup, '--data', data, '--assets', assets);
    expect(await succeed('verify', '--data', data)).toContain('no differences');
    expect(await readUpload(url, data, assets)).toBe(A_FILE);
    // Now the folder is a data directory.
    const { code, stderr } = await runVarve(['restore', backup, '--data', data, '--assets', assets]);
    expect([code, stderr]).toEqual([1, expect.stringContaining('is not empty')]);
  },
);

const KILLS = 12;

it(
  'is completed by the same command after kill -9 at any time',
  takesMinutes('killed restores'),
  async () => {
    const { backup } = await backUpWithFile();
    const begun = performance.now();
    await succeed('restore', backup, '--data', join(newFolder(), 'data'));
    const whole = performance.now() - begun;
    let killed = 0;
    for (let round = 0; round < KILLS; round++) {
      const data = join(newFolder(), 'data');
      const { child, exited } = spawnVarve(['restore', backup, '--data', data]);
      await Promise.race([exited, delay((whole * (round + 1)) / KILLS)]);
      child.kill('SIGKILL');
      if ((await exited).signal !== 'SIGKILL') continue;
      killed++;
      // The log gets its name last.
      if (!existsSync(join(data, 'events.db'))) await succeed('restore', backup, '--data', data);
      expect(await succeed('verify', '--data', data)).toContain('no differences');
    }
    expect(killed).toBeGreaterThan(0);
  },
);

it('restores uploaded files and the log to other disks', async (context) => {
  const disk = '/dev/shm';
  if (!existsSync(disk) || statSync(disk).dev === statSync(tmpdir()).dev)
    return context.skip('/dev/shm is not another disk here');
  const { backup } = await backUpWithFile();
  const elsewhere = mkdtempSync(join(disk, 'varve-restore-'));
  onTestFinished(() => rmSync(elsewhere, { recursive: true, force: true }));
  const [data, assets, log] = [
    join(newFolder(), 'data'),
    join(elsewhere, 'assets'),
    join(elsewhere, 'events.db'),
  ];
  await succeed('restore', backup, '--data', data, '--assets', assets, '--event-store', `sqlite:${log}`);
  expect(statSync(log).mode & 0o777).toBe(0o600);
  const files = readdirSync(assets, { recursive: true, withFileTypes: true }).filter((one) => one.isFile());
  const texts = files.map(({ parentPath, name }) => readFileSync(join(parentPath, name), 'utf8'));
  expect(texts).toContain(A_FILE);
  expect(readdirSync(data)).not.toContain('restore.part');
});
