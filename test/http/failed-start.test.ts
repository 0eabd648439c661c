import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { runVarve } from '../support/run-varve.ts';
import { CONFORMANCE_SCHEMA, createDataDirectory, startServer } from '../support/server.ts';
import { takesMinutes } from '../support/takes-minutes.ts';

const LONG = { ...takesMinutes('starts that fail'), timeout: 300_000 };

/** Starts an Elasticsearch that refuses all users. */
async function startRefusing(): Promise<string> {
  const refusing = createServer((_request, response) => {
    response
      .writeHead(401, { 'content-type': 'application/json', 'x-elastic-product': 'Elasticsearch' })
      .end('{"error":{"type":"security_exception","reason":"unknown user"},"status":401}');
  });
  onTestFinished(() => void refusing.close());
  await new Promise<void>((listening) => refusing.listen(0, '127.0.0.1', listening));
  return `http://127.0.0.1:${(refusing.address() as AddressInfo).port}`;
}

function start(role: 'serve' | 'project' | 'api', data: string, ...options: readonly string[]) {
  const directory = role === 'api' ? [] : ['--data', data];
  return runVarve([role, '--content-types', CONFORMANCE_SCHEMA, ...directory, '--port', '0', ...options]);
}

it.each(['serve', 'project'] as const)(
  'varve %s ends with a message when Elasticsearch refuses it, and the next start succeeds',
  LONG,
  async (role) => {
    const data = createDataDirectory();
    const index = await startRefusing();
    const { code, stderr } = await start(role, data, '--read-index', index);
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringContaining(`varve ${role}: Elasticsearch refuses: `),
    });
    const server = await startServer({ data });
    onTestFinished(() => server.dispose());
    expect((await server.stop()).code).toBe(0);
  },
);

it('varve serve and varve api end with a message if the access key is invalid', LONG, async () => {
  const data = createDataDirectory();
  const key = ['--access-key', 'short'];
  const message = 'VARVE_ACCESS_KEY is not a key: expected at least 32 bytes as base64url\n';
  const served = await start('serve', data, ...key);
  expect(served).toMatchObject({ code: 1, stderr: expect.stringContaining(`varve serve: ${message}`) });
  const log = ['--event-store', `sqlite:${data}/events.db`, '--assets', `${data}/assets`];
  const reading = await start('api', data, ...key, ...log, '--read-index', await startRefusing());
  expect(reading).toMatchObject({ code: 1, stderr: expect.stringContaining(`varve api: ${message}`) });
});
