import { readdirSync, rmSync } from 'node:fs';
import { expect, it, onTestFinished } from 'vitest';
import { createDataDirectory } from '../support/server.ts';
import { startForTest } from '../support/start-for-test.ts';
import { takesMinutes } from '../support/takes-minutes.ts';

it(
  'a server that serves has stored its compiled code for the next start, also if it is killed',
  takesMinutes('a start that compiles everything'),
  async () => {
    const folder = createDataDirectory();
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const server = await startForTest({ env: { NODE_COMPILE_CACHE: folder } });
    await server.stop('SIGKILL');
    const stored = readdirSync(folder, { recursive: true });
    expect(stored.length).toBeGreaterThan(100);
  },
);
