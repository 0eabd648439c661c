import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import { expect, it } from 'vitest';

const SCRIPT = `
  import { getPriority } from 'node:os';
  import { lowerPriority } from '${resolve('services/supervisor/builder-process.ts')}';
  lowerPriority();
  console.log(getPriority());`;
/** Only root may raise a priority. */
const NO_ROOT = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};

it.each([
  [0, 10],
  [15, 15],
])('a builder that is started with the niceness %d has %d', (started, lowered) => {
  const args = ['-n', String(started), process.execPath, '--input-type=module', '--eval', SCRIPT];
  const { stdout, stderr } = spawnSync('nice', args, { encoding: 'utf8', ...NO_ROOT });
  expect([stderr, stdout]).toEqual(['', `${lowered}\n`]);
});
