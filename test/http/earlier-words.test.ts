import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { createDataDirectory, startServer } from '../support/server.ts';

it('starts on a data directory with words that an earlier release has stored, and removes them', async () => {
  const data = createDataDirectory();
  const words = join(data, 'words');
  mkdirSync(words, { recursive: true });
  for (const name of ['api--tag.tag.live', 'api--tag.tag.live.999999999.part'])
    writeFileSync(join(words, name), 'words');
  const server = await startServer({ data });
  onTestFinished(async () => {
    await server.dispose();
    rmSync(data, { recursive: true, force: true });
  });
  expect(existsSync(words)).toBe(false);
  const body = JSON.stringify({ data: { key: 'one', name: 'boundary layer' } });
  const headers = { 'content-type': 'application/json' };
  const written = await fetch(`${server.url}/api/tags`, { method: 'POST', body, headers });
  expect(written.status).toBe(201);
  const found = await fetch(`${server.url}/api/tags?search=layer`);
  expect(await found.json()).toMatchObject({ data: [{ name: 'boundary layer' }] });
  await server.stop();
  expect(existsSync(words)).toBe(false);
});
