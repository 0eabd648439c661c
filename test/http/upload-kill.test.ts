import { createHash, randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { expect, it, onTestFinished } from 'vitest';
import { createDataDirectory, startServer } from '../support/server.ts';
import { count, takesMinutes } from '../support/takes-minutes.ts';
import { type FileAnswer, getJson, upload } from '../support/upload-client.ts';

/** Number of kills. KILL_ROUNDS=50 for a full run. */
const ROUNDS = Number(process.env['KILL_ROUNDS'] ?? count(5, 2));
const WRITERS = 8;

it(`kill -9 during uploads, ${ROUNDS} times on one data directory: every acknowledged file exists, and every file is complete`, {
  ...takesMinutes('kills during uploads'),
  timeout: 30_000 + ROUNDS * 30_000,
}, async () => {
  const data = createDataDirectory();
  onTestFinished(() => rmSync(data, { recursive: true, force: true }));
  const acknowledged = new Map<string, string>();
  for (let round = 0; round < ROUNDS; round++) {
    const server = await startServer({ data });
    let alive = true;
    const write = async (writer: number) => {
      while (alive) {
        const files = [0, 1].map((i) => ({
          name: `${round}-${writer}-${i}.bin`,
          bytes: randomBytes(300_000),
        }));
        const answer = await upload(server, files).catch(() => undefined);
        for (const { documentId, hash } of answer ?? []) acknowledged.set(documentId, hash);
      }
    };
    const before = acknowledged.size;
    const writers = Array.from({ length: WRITERS }, (_, writer) => write(writer));
    await expect.poll(() => acknowledged.size, { timeout: 30_000 }).toBeGreaterThan(before + WRITERS);
    await server.stop('SIGKILL');
    alive = false;
    await Promise.all(writers);
  }
  const server = await startServer({ data });
  onTestFinished(() => server.dispose());
  const files = await getJson<FileAnswer[]>(server, '/api/upload/files');
  const byId = new Map(files.map((file) => [file.documentId, file.hash]));
  for (const [documentId, hash] of acknowledged) expect(byId.get(documentId)).toBe(hash);
  for (const { url, hash } of files) {
    const content = await (await fetch(server.url + url)).arrayBuffer();
    expect(createHash('sha256').update(Buffer.from(content)).digest('hex')).toBe(hash);
  }
  expect(files.length).toBeGreaterThan(ROUNDS * WRITERS);
});
