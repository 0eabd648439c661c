import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { runVarve } from '../support/run-varve.ts';
import { createDataDirectory } from '../support/server.ts';

it('makes no token and no directory if no server was started there', async () => {
  const parent = createDataDirectory();
  onTestFinished(() => rmSync(parent, { recursive: true, force: true }));
  const data = join(parent, 'none');
  const made = await runVarve(['token', 'create', '--name', 'a', '--type', 'read-only', '--data', data]);
  expect(made.code).toBe(1);
  expect(made.stderr).toContain(`${data} is not a Varve data directory: start a server on it first`);
  expect(existsSync(data)).toBe(false);
});
