import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { restore } from '../../services/cli/commands/backup.ts';
import { importArchiveFile } from '../../services/cli/commands/import-archive.ts';
import { importHistory } from '../../services/cli/commands/import-history.ts';
import { BACKUP_SETTINGS, IMPORT_SETTINGS, parseSettings } from '../../services/cli/settings/settings.ts';

/** A bar that does not end keeps its process alive: the command would print its message and never exit. */
const HIDES_CURSOR = '\u001B[?25l';
const SHOWS_CURSOR = '\u001B[?25h';

let folder = '';
let shown: string[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'varve-progress-'));
  const { isTTY } = process.stderr;
  const written: string[] = [];
  shown = written;
  const write = vi
    .spyOn(process.stderr, 'write')
    .mockImplementation((text) => written.push(String(text)) > 0);
  process.stderr.isTTY = true;
  onTestFinished(() => {
    process.stderr.isTTY = isTTY;
    write.mockRestore();
    rmSync(folder, { recursive: true, force: true });
  });
});

function written(name: string, text: string): string {
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
}

function expectEnded(): void {
  const cursor = shown.filter((text) => text === HIDES_CURSOR || text === SHOWS_CURSOR);
  expect(cursor).toEqual([HIDES_CURSOR, SHOWS_CURSOR]);
}

const data = () => join(folder, 'data');

it('ends when an export cannot be imported, and begins after the log is opened', async () => {
  const file = written('export.jsonl', 'no line of an export\n');
  const settings = { data: data(), space: 'varve' };
  await expect(importHistory(file, { ...settings, eventStore: 'mysql://x' })).rejects.toThrow('event store');
  expect(shown).toEqual([]);
  await expect(importHistory(file, { ...settings, eventStore: undefined })).rejects.toThrow();
  expectEnded();
});

it('ends when a backup cannot be restored', async () => {
  const settings = parseSettings(BACKUP_SETTINGS, { data: folder });
  written('other', '');
  const backup = join(import.meta.dirname, '../operator/backup-format-2');
  await expect(restore(settings, {}, backup)).rejects.toThrow('is not empty');
  expectEnded();
});

it('ends when an archive cannot be imported', async () => {
  const contentTypes = 'test/conformance/schema';
  const settings = parseSettings(IMPORT_SETTINGS, { data: data(), contentTypes });
  const archive = written('damaged.tar.gz', 'no archive');
  await expect(importArchiveFile(archive, settings, { dryRun: true })).rejects.toThrow();
  expectEnded();
});
