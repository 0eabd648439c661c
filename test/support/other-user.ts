import { spawnSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { resolve } from 'node:path';
import type { SkipOptions } from './takes-minutes.ts';

const NOBODY = 65_534;
const isRoot = process.getuid?.() === 0;

/** Options of a program that must not have the rights of root, who may read everything. */
export const WITHOUT_ROOT = isRoot ? { uid: NOBODY, gid: NOBODY } : {};

const LOOK = 'for (const path of process.argv.slice(1)) require("node:fs").readdirSync(path);';

/** Returns the options of a test that starts a program WITHOUT_ROOT: skipped if that user cannot reach this checkout. */
export function needsReach(): SkipOptions {
  const { status } = spawnSync(
    process.execPath,
    ['--eval', LOOK, resolve('services'), tmpdir()],
    WITHOUT_ROOT,
  );
  if (status === 0) return {};
  const skipReason = `programs of user ${NOBODY}: that user cannot reach ${resolve()}, ${process.execPath} or ${tmpdir()}`;
  return { skip: true, meta: { skipReason } };
}
