import { once } from 'node:events';
import { readFileSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { seedKitchen } from '../support/killed-rebuild.ts';
import { createKitchenTypes } from '../support/kitchen.ts';
import { createDataDirectory, spawnVarve, startServer, type VarveProcess } from '../support/server.ts';
import { takesMinutes } from '../support/takes-minutes.ts';

/** `varve rebuild` when its server is stopped, and a server that starts while the command has the data directory. */
let contentTypes: string;
let data: string;

beforeEach(async () => {
  contentTypes = createKitchenTypes();
  data = createDataDirectory();
  onTestFinished(() => {
    for (const folder of [data, contentTypes]) rmSync(folder, { recursive: true, force: true });
  });
  await seedKitchen(['--content-types', contentTypes, '--data', data]);
}, 300_000);

const start = async (...options: readonly string[]) => {
  const server = await startServer({ contentTypes, data, arguments: options });
  onTestFinished(() => server.dispose());
  return server;
};

const rebuild = (...options: readonly string[]) => {
  const command = spawnVarve(['rebuild', '--graph', ...options, '--data', data]);
  onTestFinished(async () => {
    command.child.kill('SIGKILL');
    await command.exited;
  });
  return command;
};

/** A request whose body never ends: a server that is stopped waits for it. */
const sendHalfARequest = async (url: string) => {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname).on('error', () => {});
  onTestFinished(() => void socket.destroy());
  await once(socket, 'connect');
  const answered = once(socket, 'data');
  socket.write(
    `POST /api/cooks HTTP/1.1\r\nHost: ${hostname}\r\nContent-Type: application/json\r\nContent-Length: 9\r\n`,
  );
  socket.write('Expect: 100-continue\r\n\r\n{');
  await answered;
};

/** Pauses a command while it has the data directory. */
const pauseWithDirectory = async ({ child, exited, output }: VarveProcess) => {
  for (;;) {
    expect(child.exitCode, output()).toBeNull();
    if (holder() === child.pid) {
      child.kill('SIGSTOP');
      // It may run for a moment longer.
      await delay(20);
      if (holder() === child.pid) return;
      child.kill('SIGCONT');
    }
    await Promise.race([delay(1), exited]);
  }
};

const holder = () => {
  try {
    return (JSON.parse(readFileSync(join(data, 'lock.json'), 'utf8')) as { readonly pid: number }).pid;
  } catch {
    return undefined;
  }
};

describe('a rebuild whose server is stopped', takesMinutes('servers that are stopped'), () => {
  it('waits until the server has ended, and makes the generation itself', async () => {
    const server = await start('--drain-seconds', '10');
    await sendHalfARequest(server.url);
    const command = rebuild('--json', '--max-rate', '500');
    await once(command.child.stdout ?? expect.unreachable(), 'data');
    expect((await server.stop()).output).not.toContain('the worker crashed');
    expect(await command.exited).toEqual({
      code: 0,
      signal: null,
      output: expect.stringContaining('"generation":2,"phase":"done"'),
    });
    const next = await start();
    expect((await fetch(`${next.url}/api/cooks`)).status).toBe(200);
  }, 300_000);
});

/** Starts a server that has to wait for a command. Resolves when it has said so. */
const startWaiting = async (command: VarveProcess) => {
  const server = spawnVarve(['serve', '--content-types', contentTypes, '--data', data, '--port', '0']);
  onTestFinished(async () => {
    server.child.kill('SIGKILL');
    await server.exited;
  });
  await expect.poll(server.output, { timeout: 60_000 }).toContain('waiting for its end');
  expect(server.output()).toContain(`in use by process ${command.child.pid}`);
  return server;
};

describe('a server that is started during a rebuild', takesMinutes('a rebuild that is paused'), () => {
  it('waits until the command releases the directory, says so, and can be stopped meanwhile', async () => {
    const command = rebuild();
    await pauseWithDirectory(command);
    const stopped = await startWaiting(command);
    stopped.child.kill('SIGTERM');
    expect((await stopped.exited).code).toBe(0);
    const server = await startWaiting(command);
    command.child.kill('SIGCONT');
    expect(await command.exited).toMatchObject({
      code: 0,
      output: expect.stringContaining('generation 2 is live'),
    });
    await expect.poll(server.output, { timeout: 60_000 }).toMatch(/^Varve serves /m);
    server.child.kill('SIGTERM');
    expect((await server.exited).code).toBe(0);
  }, 300_000);
});
