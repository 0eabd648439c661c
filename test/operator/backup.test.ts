import { createHash } from 'node:crypto';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { createAsk } from '../support/access-client.ts';
import { runVarve } from '../support/run-varve.ts';
import { createDataDirectory, startServer } from '../support/server.ts';
import { takesMinutes } from '../support/takes-minutes.ts';

const PICTURE = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

function newFolder(): string {
  const folder = createDataDirectory();
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

async function succeed(...args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await runVarve(args);
  expect(code, stdout + stderr).toBe(0);
  return stdout;
}

async function fail(...args: readonly string[]): Promise<string> {
  const { code, stderr } = await runVarve(args);
  expect(code).toBe(1);
  return stderr;
}

it('restores everything that was acknowledged before it, with files and tokens, while the server keeps running', async () => {
  const folder = newFolder();
  const server = await startServer();
  onTestFinished(() => server.dispose());
  const ask = createAsk(server.url);
  const create = async (name: string) => {
    const { status, body } = await ask('/api/countries', {
      method: 'POST',
      body: { data: { key: name, name } },
    });
    expect(status, JSON.stringify(body)).toBe(201);
  };
  await create('Norway');
  const form = new FormData();
  form.append('files', new Blob([PICTURE], { type: 'image/png' }), 'dot.png');
  const [file] = (await ask('/api/upload', { method: 'POST', body: form })).body;
  // Writers continue during the backup.
  let isWriting = true;
  const writing = (async () => {
    for (let at = 0; isWriting; at++) await create(`Country ${at}`);
  })();
  const copy = join(folder, 'backup');
  const manifest = JSON.parse(await succeed('backup', copy, '--data', server.data, '--json'));
  isWriting = false;
  await writing;
  await create('Peru');
  const token = (
    await succeed('token', 'create', '--name', 'all', '--type', 'full-access', '--data', server.data)
  ).trim();
  const second = join(folder, 'second');
  await succeed('backup', second, '--data', server.data);

  const data = join(folder, 'data');
  expect(await succeed('restore', copy, '--data', data)).toContain(
    'a replay of the log gives the same content',
  );
  const restored = await startServer({ data });
  onTestFinished(() => restored.dispose());
  const countries = (await createAsk(restored.url)('/api/countries?pagination[limit]=100')).body;
  const names = countries.data.map(({ name }: { name: string }) => name);
  expect(names).toContain('Norway');
  expect(names).not.toContain('Peru');
  expect(manifest.log.events).toBeGreaterThan(names.length);
  const picture = await fetch(restored.url + file.url);
  expect(Buffer.from(await picture.arrayBuffer())).toEqual(PICTURE);
  await restored.stop();

  const later = join(folder, 'later');
  await succeed('restore', second, '--data', later);
  const guarded = await startServer({ data: later });
  onTestFinished(() => guarded.dispose());
  expect((await createAsk(guarded.url)('/api/countries')).status).toBe(403);
  expect((await createAsk(guarded.url, token)('/api/countries')).status).toBe(200);
});

it(
  'refuses a folder that is not a backup, a damaged backup, and a used data directory',
  takesMinutes('damaged backups'),
  async () => {
    const folder = newFolder();
    const server = await startServer();
    onTestFinished(() => server.dispose());
    const running = await fail('restore', server.data, '--data', join(folder, 'a'));
    expect(running).toContain('is not a complete backup: it has no manifest.json');
    await server.stop();
    const copy = join(folder, 'backup');
    await succeed('backup', copy, '--data', server.data);
    expect(await fail('backup', copy, '--data', server.data)).toContain('is not empty');
    expect(await fail('restore', copy, '--data', server.data)).toContain('is not empty');
    expect(await fail('backup', join(folder, 'b'), '--data', join(folder, 'none'))).toContain(
      'is not a Varve data directory',
    );
    const KURRENTDB = 'kurrentdb://localhost:2113';
    const foreign = ['backup', join(folder, 'b'), '--data', server.data, '--event-store', KURRENTDB];
    expect(await fail(...foreign)).toContain(`and the options name the log ${KURRENTDB}`);
    rmSync(join(server.data, 'log.json'));
    expect(await fail(...foreign)).toContain("back it up with KurrentDB's own tools");

    const bytes = readFileSync(join(copy, 'events.db'));
    bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] ?? 0) ^ 1;
    writeFileSync(join(copy, 'events.db'), bytes);
    const target = join(folder, 'c');
    expect(await fail('restore', copy, '--data', target)).toContain('the backup is damaged: events.db');
    expect(existsSync(join(target, 'events.db'))).toBe(false);
    // If the log's digest agrees with the manifest, the number of events is compared as well.
    bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] ?? 0) ^ 1;
    writeFileSync(join(copy, 'events.db'), bytes);
    const manifest = JSON.parse(readFileSync(join(copy, 'manifest.json'), 'utf8'));
    expect(createHash('sha256').update(bytes).digest('hex')).toBe(manifest.files['events.db'].sha256);
    const fewer = { ...manifest, log: { ...manifest.log, events: manifest.log.events + 1 } };
    writeFileSync(join(copy, 'manifest.json'), JSON.stringify(fewer));
    expect(await fail('restore', copy, '--data', target)).toMatch(/its log has \d+ events/);
    writeFileSync(join(copy, 'manifest.json'), JSON.stringify(manifest));
    await succeed('restore', copy, '--data', target);
  },
);
