import { chmodSync, existsSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { makeFolder } from '../../shared/make-folder.ts';

function folderForTest(): string {
  const folder = mkdtempSync(join(tmpdir(), 'varve-make-folder-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

const modeOf = (path: string) => statSync(path).mode & 0o777;

it('creates a folder and its parents for the owner only, and does not change existing ones', () => {
  const above = folderForTest();
  chmodSync(above, 0o755);
  for (let i = 0; i < 2; i++) makeFolder(join(above, 'a', 'b', '..', 'c'));
  expect(existsSync(join(above, 'a/b'))).toBe(false);
  expect([above, join(above, 'a'), join(above, 'a/c')].map(modeOf)).toEqual([0o755, 0o700, 0o700]);
  symlinkSync(join(above, 'a'), join(above, 'link'));
  makeFolder(join(above, 'link'));
  makeFolder(join(above, 'link', 'd'));
  expect(modeOf(join(above, 'a/d'))).toBe(0o700);
});

it('resolves .. from the folder that a link names, as the system does', () => {
  const above = folderForTest();
  makeFolder(join(above, 'other', 'deep'));
  symlinkSync(join(above, 'other', 'deep'), join(above, 'link'));
  makeFolder(`${above}/link/../made`);
  makeFolder(`${above}/missing/../new/folder/`);
  expect(['other/made', 'made', 'new/folder'].map((name) => existsSync(join(above, name)))).toEqual([
    true,
    false,
    true,
  ]);
});

it('throws the error of the system for a file in the path, for dangling links, and for a name that is too long', () => {
  const above = folderForTest();
  writeFileSync(join(above, 'file'), '');
  symlinkSync(join(above, 'nowhere'), join(above, 'link'));
  expect(() => makeFolder(join(above, 'file'))).toThrow('EEXIST');
  expect(() => makeFolder(join(above, 'file', 'a', 'b'))).toThrow('ENOTDIR');
  expect(() => makeFolder(join(above, 'link'))).toThrow('EEXIST');
  symlinkSync('loop', join(above, 'loop'));
  expect(() => makeFolder(join(above, 'loop', 'a'))).toThrow(/^ELOOP: .*, mkdir '/);
  expect(() => makeFolder(join(above, 'a'.repeat(300)))).toThrow(/^ENAMETOOLONG: .*, mkdir '/);
});

it('ends if the system cannot create folders', () => {
  expect(() => makeFolder('/proc/varve')).toThrow(/ENOENT|EROFS/);
  expect(() => makeFolder('/proc/varve/data')).toThrow(/ENOENT|EROFS/);
  expect(() => makeFolder('')).toThrow("mkdir ''");
});
