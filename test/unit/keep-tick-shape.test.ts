import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const run = promisify(execFile);

const program = (keeps: boolean) => `
  import { createHook } from 'node:async_hooks';
  import { setTimeout as delay } from 'node:timers/promises';
  import { keepTickShape } from ${JSON.stringify(join(import.meta.dirname, '../../services/cli/keep-tick-shape.ts'))};
  const made = [];
  const hook = createHook({ init: (_id, type, _from, it) => type === 'TickObject' && made.push(new WeakRef(it)) }).enable();
  ${keeps ? 'keepTickShape();' : 'process.nextTick(() => {});'}
  hook.disable();
  for (let i = 0; i < 3; i++) {
    await delay(1);
    globalThis.gc();
  }
  console.log(made.filter((it) => it.deref() !== undefined).length);
`;

it.each([
  [true, '1'],
  [false, '0'],
])('with it (%s), an object of a tick survives full collections', async (keeps, alive) => {
  const { stdout } = await run(process.execPath, [
    '--expose-gc',
    '--input-type=module',
    '-e',
    program(keeps),
  ]);
  expect(stdout.trim()).toBe(alive);
});
