import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { createAsk } from '../support/access-client.ts';
import { runVarve } from '../support/run-varve.ts';
import { createDataDirectory, startServer } from '../support/server.ts';
import { takesMinutes } from '../support/takes-minutes.ts';

/** Written by a release whose manifests had digests of the graph's internal numbers, which no replay gives again. */
const FORMAT_2 = fileURLToPath(new URL('backup-format-2', import.meta.url));

function newFolder(): string {
  const folder = createDataDirectory();
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

function writeType(folder: string, name: string, attributes: object): void {
  mkdirSync(join(folder, name), { recursive: true });
  const info = { singularName: name, pluralName: `${name}s`, displayName: name };
  const schema = { kind: 'collectionType', info, options: { draftAndPublish: false }, attributes };
  writeFileSync(join(folder, name, 'schema.json'), JSON.stringify(schema));
}

const relationTo = (name: string) => ({
  type: 'relation',
  relation: 'manyToOne',
  target: `api::${name}.${name}`,
});

async function succeed(...args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await runVarve(args);
  expect(code, stdout + stderr).toBe(0);
  return stdout;
}

it(
  'restores a log with content types from different times',
  takesMinutes('a restored history of content types'),
  async () => {
    const [contentTypes, folder] = [newFolder(), newFolder()];
    const data = join(folder, 'data');
    writeType(contentTypes, 'plate', { name: { type: 'string' } });
    writeType(contentTypes, 'cook', { name: { type: 'string', unique: true }, plate: relationTo('plate') });
    const first = await startServer({ contentTypes, data });
    onTestFinished(() => first.dispose());
    await first.stop();
    writeType(contentTypes, 'apron', { name: { type: 'string' }, cook: relationTo('cook') });
    writeType(contentTypes, 'plate', { name: { type: 'string' }, apron: relationTo('apron') });
    const second = await startServer({ contentTypes, data });
    onTestFinished(() => second.dispose());
    const body = { data: { name: 'White' } };
    expect((await createAsk(second.url)('/api/aprons', { method: 'POST', body })).status).toBe(201);
    await second.stop();
    expect(await succeed('verify', '--data', data)).toContain('no differences');
    await succeed('backup', join(folder, 'backup'), '--data', data);
    expect(await succeed('restore', join(folder, 'backup'), '--data', join(folder, 'restored'))).toContain(
      'a replay of the log gives the same content',
    );
  },
);

it('restores a backup of an earlier format without comparing the graph', async () => {
  const data = join(newFolder(), 'data');
  const restored = await succeed('restore', FORMAT_2, '--data', data);
  expect(restored).toContain('12 events up to position 12');
  expect(restored).toContain('the content graph was not compared');
  expect(await succeed('verify', '--data', data)).toContain('no differences');
});
