import { fork } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { getPriority } from 'node:os';
import { expect, it, onTestFinished } from 'vitest';
import { BUILDER_ARGUMENT } from '../../services/supervisor/builder-process.ts';
import { COMPATIBILITY } from '../../services/supervisor/protocol.ts';
import { childrenOf, isRunning } from '../support/processes.ts';
import { create, names } from '../support/replaced-workers.ts';
import { runVarve } from '../support/run-varve.ts';
import { createDataDirectory, spawnVarve, startServer, VARVE } from '../support/server.ts';
import { takesMinutes } from '../support/takes-minutes.ts';

/** The builder of a generation must end with its server, since the next server needs the data directory. */
async function stoppedServer(): Promise<string> {
  const data = createDataDirectory();
  onTestFinished(() => rmSync(data, { recursive: true, force: true }));
  const server = await startServer({ data });
  onTestFinished(() => server.dispose());
  expect(await create(server.url, 'a')).toBe(201);
  expect(await server.stop()).toMatchObject({ code: 0 });
  return data;
}

const LONG = takesMinutes('a process that makes a generation, paused or without its server');

it('has a low priority, and ends before its server does, although it is paused', LONG, async () => {
  const data = await stoppedServer();
  const server = await startServer({ data });
  onTestFinished(() => server.dispose());
  const rebuild = spawnVarve(['rebuild', '--graph', '--json', '--max-rate', '1', '--data', data]);
  onTestFinished(() => void rebuild.child.kill('SIGKILL'));
  // If the builder were paused before its program begins, the process that starts it would be paused too.
  await once(rebuild.child.stdout ?? rebuild.child, 'data');
  const [builder = 0] = childrenOf(server.worker() ?? 0);
  onTestFinished(() => void (isRunning(builder) && process.kill(builder, 'SIGKILL')));
  expect(getPriority(builder)).toBeGreaterThanOrEqual(10);
  process.kill(builder, 'SIGSTOP');
  // The command would continue the server's rebuild.
  rebuild.child.kill('SIGKILL');
  await rebuild.exited;
  expect(await server.stop()).toMatchObject({ code: 0, signal: null });
  expect(isRunning(builder)).toBe(false);
});

it(
  'does not take the data directory after its server has ended, and the next rebuild continues',
  LONG,
  async () => {
    const data = await stoppedServer();
    const [script = '', ...options] = [...VARVE].reverse();
    const builder = fork(script, [BUILDER_ARGUMENT, COMPATIBILITY, 'rebuild', '--json', '--graph'], {
      execArgv: options,
      env: { ...process.env, VARVE_DATA: data },
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    });
    let said = '';
    builder.stderr?.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
    const [code] = await once(builder, 'close');
    expect({ code, said }).toEqual({
      code: 1,
      said: 'varve rebuild: no server has the data directory now\n',
    });
    const { stdout } = await runVarve(['rebuild', '--graph', '--data', data]);
    expect(stdout).toContain('generation 2 is live');
    const server = await startServer({ data });
    onTestFinished(() => server.dispose());
    expect(await names(server.url)).toEqual(['a']);
  },
);
