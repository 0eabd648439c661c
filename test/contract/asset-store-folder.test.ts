import { mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { openFolderAssetStore } from '../../shared/asset-store/folder-asset-store.ts';
import { describeAssetStore } from './asset-store-contract.ts';

describeAssetStore('folder', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'varve-assets-'));
  return {
    open: async () => openFolderAssetStore(folder),
    names: async () => filesOf(folder),
    remove: () => rm(folder, { recursive: true, force: true }),
  };
});

it('removes what a killed process left unfinished a day ago, and only that', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'varve-assets-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  openFolderAssetStore(folder);
  const old = join(folder, 'incoming', 'old');
  await writeFile(old, 'half');
  await utimes(old, new Date(0), new Date(0));
  await writeFile(join(folder, 'incoming', 'new'), 'half');
  openFolderAssetStore(folder);
  expect(await filesOf(folder)).toEqual(['new']);
});

async function filesOf(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => basename(entry.name));
}
