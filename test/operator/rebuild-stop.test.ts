import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { connect } from 'node:net';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { seedKitchen } from '../support/killed-rebuild.ts';
import { createKitchenTypes } from '../support/kitchen.ts';
import { createDataDirectory, spawnVarve, startServer } from '../support/server.ts';
import { takesMinutes } from '../support/takes-minutes.ts';

/** `varve rebuild` when its server is stopped. */
let contentTypes: string;
let data: string;

beforeEach(async () => {
  contentTypes = createKitchenTypes();
  data = createDataDirectory();
  onTestFinished(() => {
    for (const folder of [data, contentTypes]) rmSync(folder, { recursive: true, force: true });
  });
  await seedKitchen(['--content-types', contentTypes, '--data', data]);
}, 60_000);

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

describe('a rebuild whose server is stopped', takesMinutes('servers that are stopped'), () => {
  it('waits until the server has ended, and makes the generation itself', async () => {
    const server = await start('--drain-seconds', '10');
    await sendHalfARequest(server.url);
    const command = rebuild('--max-rate', '500');
    await once(command.child.stderr ?? expect.unreachable(), 'data');
    expect((await server.stop()).output).not.toContain('the worker crashed');
    expect(await command.exited).toEqual({
      code: 0,
      signal: null,
      output: expect.stringContaining('generation 2 is live'),
    });
    const next = await start();
    expect((await fetch(`${next.url}/api/cooks`)).status).toBe(200);
  }, 120_000);
});
