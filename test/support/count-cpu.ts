import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';

/**
 * Runs before each file of tests (VARVE_CPU=1). Moves the worker to a control group of the file. The processes that it starts belong to the
 * same group until they end, also without their parent.
 */
const { testPath = '' } = expect.getState();
const group = join(process.env['CPU_GROUP'] ?? '', testPath.replace(/^.*\/test\//, '').replaceAll('/', '@'));
mkdirSync(group, { recursive: true });
writeFileSync(join(group, 'cgroup.procs'), String(process.pid));
