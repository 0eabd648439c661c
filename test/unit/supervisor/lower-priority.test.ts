import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import { expect, it } from 'vitest';
import { needsReach, WITHOUT_ROOT } from '../../support/other-user.ts';

const SCRIPT = `
  import { getPriority } from 'node:os';
  import { lowerPriority } from '${resolve('services/supervisor/builder-process.ts')}';
  lowerPriority();
  console.log(getPriority());`;
// Only root may raise a priority.
it.for([
  [0, 10],
  [15, 15],
])('a builder that is started with the niceness %d has %d', needsReach(), ([started, lowered]) => {
  const args = ['-n', String(started), process.execPath, '--input-type=module', '--eval', SCRIPT];
  const { stdout, stderr } = spawnSync('nice', args, { encoding: 'utf8', ...WITHOUT_ROOT });
  expect([stderr, stdout]).toEqual(['', `${lowered}\n`]);
});
