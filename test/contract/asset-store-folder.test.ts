import { execFile } from 'node:child_process';
import { mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it, onTestFinished } from 'vitest';
import { openFolderAssetStore } from '../../shared/asset-store/folder/folder-asset-store.ts';
import { refuseTemporaryFailures } from '../../shared/asset-store/folder/temporary-failures.ts';
import { mountSmallDisk } from '../support/small-disk.ts';
import { describeAssetStore } from './asset-store-contract.ts';

describeAssetStore('folder', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'varve-assets-'));
  return {
    open: async () => openFolderAssetStore(folder),
    names: async () => filesOf(folder),
    remove: () => rm(folder, { recursive: true, force: true }),
  };
});

it('removes only what a killed process left unfinished a day ago', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'varve-assets-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  openFolderAssetStore(folder);
  const old = join(folder, 'incoming', 'old');
  await writeFile(old, 'half');
  const recent = join(folder, 'incoming', 'new');
  await writeFile(recent, 'half');
  const aDayAgo = Date.now() / 1_000 - 86_400;
  await utimes(old, aDayAgo - 60, aDayAgo - 60);
  await utimes(recent, aDayAgo + 60, aDayAgo + 60);
  openFolderAssetStore(folder);
  expect(await filesOf(folder)).toEqual(['new']);
});

it('removes at once the files of a process that has ended, and none of a running one', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'varve-assets-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const living = openFolderAssetStore(folder);
  const rest = Promise.withResolvers<void>();
  const content = async function* () {
    yield Buffer.from('first');
    await rest.promise;
    yield Buffer.from('second');
  };
  const staging = living.stage(content(), 100);
  await expect.poll(() => filesOf(folder)).toHaveLength(1);
  const incoming = join(folder, 'incoming');
  await writeFile(join(incoming, 'killed.lock'), '');
  await writeFile(join(incoming, 'killed half'), 'half');
  openFolderAssetStore(folder);
  expect(await filesOf(folder)).toHaveLength(1);
  expect(await readdir(incoming)).not.toContain('killed.lock');
  rest.resolve();
  const staged = await staging;
  await staged.keep();
  expect(await living.size(staged.hash)).toBe(11);
});

/** Script that keeps an upload in a relative folder after the working directory was removed. */
const KEEP = `
  import { rmSync } from 'node:fs';
  const { openFolderAssetStore } = await import(process.argv[1]);
  const content = async function* () { yield Buffer.from('file') };
  const staged = await openFolderAssetStore('assets').stage(content(), 100);
  rmSync(process.cwd(), { recursive: true });
  await staged.keep().catch(({ code }) => console.log(code));
`;

it('refuses an upload when the working directory was removed meanwhile', async () => {
  const cwd = await mkdtemp(join(tmpdir(), 'varve-assets-'));
  onTestFinished(() => rm(cwd, { recursive: true, force: true }));
  const store = import.meta.resolve('../../shared/asset-store/folder/folder-asset-store.ts');
  const script = ['--input-type=module', '--eval', KEEP, store];
  const { stdout } = await promisify(execFile)(process.execPath, script, { cwd, timeout: 20_000 });
  expect(stdout).toBe('ENOENT\n');
});

/** Script that opens many folders, each at the same time as another process. */
const OPEN = `
  const [, store, folder, from] = process.argv;
  const { openFolderAssetStore } = await import(store);
  for (let n = 0; n < 150; n++) {
    while (Date.now() < Number(from) + n * 10);
    openFolderAssetStore(folder + '/' + n + '/assets');
  }
`;

it('is opened by two processes at the same time', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'varve-assets-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const store = import.meta.resolve('../../shared/asset-store/folder/folder-asset-store.ts');
  const script = ['--input-type=module', '--eval', OPEN, store, folder, String(Date.now() + 1_000)];
  const run = () => promisify(execFile)(process.execPath, script, { timeout: 20_000 });
  // Rejects with the error output of a process that fails.
  await Promise.all([run(), run()]);
}, 300_000);

it('refuses with 503 on a full disk or without file handles, and leaves no incomplete file', async (context) => {
  const disk = mountSmallDisk(1);
  if (disk === undefined) return context.skip('this process may not mount a tmpfs');
  onTestFinished(disk.remove);
  const store = openFolderAssetStore(disk.path);
  disk.fill(100_000);
  const content = async function* () {
    for (let n = 0; n < 10; n++) yield Buffer.alloc(50_000);
  };
  await expect(store.stage(content(), 1_000_000)).rejects.toMatchObject({
    code: 'asset-store-unavailable',
    message: expect.stringContaining('its disk is full'),
  });
  expect(await filesOf(join(disk.path, 'incoming'))).toEqual([]);
  const noHandle = Object.assign(new Error('EMFILE: too many open files'), { code: 'EMFILE' });
  await expect(refuseTemporaryFailures(Promise.reject(noHandle))).rejects.toMatchObject({
    code: 'asset-store-unavailable',
  });
});

/** Returns all files except the locks of processes. */
async function filesOf(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.flatMap((entry) => (entry.isFile() && !entry.name.includes('.lock') ? [entry.name] : []));
}
