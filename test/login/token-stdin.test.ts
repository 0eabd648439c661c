import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { UNKNOWN_TOKEN } from '../../shared/access/unknown-token.ts';
import { createAsk } from '../support/access-client.ts';
import { type RunningServer, startServer } from '../support/server.ts';

/** A token in Strapi's form: 256 hexadecimal digits. */
const STRAPIS = 'c0ffee15'.repeat(32);

let server: RunningServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.dispose());

async function createToken(value: string, name: string): Promise<string> {
  const args = [
    'token',
    'create',
    '--token-stdin',
    '--name',
    name,
    '--type',
    'read-only',
    '--data',
    server.data,
  ];
  const child = spawn(process.execPath, [join(import.meta.dirname, '../../services/cli/varve.ts'), ...args]);
  child.stdin.end(value);
  const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
  return output + errors;
}

test('a token of Strapi that clients have is stored, and shown nowhere', async () => {
  const ask = createAsk(server.url, STRAPIS);
  const before = await ask('/api/tags');
  expect([before.status, before.body.error.message]).toEqual([401, UNKNOWN_TOKEN]);
  expect(UNKNOWN_TOKEN).toContain('varve token create --token-stdin');
  const output = await createToken(`${STRAPIS}\n`, 'site');
  expect(output).toContain('Token "site"');
  expect(output).not.toContain(STRAPIS);
  expect((await ask('/api/tags', { headers: { 'varve-min-position': '1' } })).status).toBe(200);
  expect(await createToken(STRAPIS, 'again')).toContain('"site" has the same value');
});

test('a value that is easy to guess is refused', async () => {
  expect(await createToken('secret', 'short')).toMatch(/32 to 1024 visible ASCII characters.*got 6/);
});
