import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createAsk } from '../support/access-client.ts';
import { elasticsearchUrl, needsElasticsearch } from '../support/elasticsearch.ts';
import { removeIndices } from '../support/remove-indices.ts';
import { runVarve } from '../support/run-varve.ts';
import {
  CONFORMANCE_SCHEMA,
  createDataDirectory,
  type RunningServer,
  spawnVarve,
  startServer,
} from '../support/server.ts';
import { takesMinutes } from '../support/takes-minutes.ts';

const space = `owned_${process.pid}`;
const folder = createDataDirectory();
let url: string;
let original: RunningServer;

describe('the indices of a log', await needsElasticsearch(takesMinutes('who owns indices')), () => {
  const args = () => ['--space', space, '--read-index', url];
  const start = (name: string, ...more: readonly string[]) =>
    startServer({ data: join(folder, name), arguments: [...args(), ...more] });
  beforeAll(async () => {
    url = await elasticsearchUrl();
    original = await start('original');
  }, 300_000);
  afterAll(async () => {
    await original?.dispose();
    await removeIndices(url, space);
    rmSync(folder, { recursive: true, force: true });
  });

  const names = async (server: RunningServer): Promise<readonly string[]> =>
    (await createAsk(server.url)('/api/tags?sort=name')).body.data.map(
      ({ name }: { readonly name: string }) => name,
    );

  it('are refused to a restored copy, which becomes their owner with --adopt', {
    timeout: 300_000,
  }, async () => {
    const body = { data: { key: 'kept', name: 'kept' } };
    expect((await createAsk(original.url)('/api/tags', { method: 'POST', body })).status).toBe(201);
    const [backup, copy] = [join(folder, 'backup'), join(folder, 'copy')];
    for (const command of [
      ['backup', backup, '--data', original.data, '--space', space],
      ['restore', backup, '--data', copy, '--space', space],
    ]) {
      const { code, stderr } = await runVarve(command);
      expect(code, stderr).toBe(0);
    }
    const serve = ['serve', '--content-types', CONFORMANCE_SCHEMA, '--data', copy, '--port', '0', ...args()];
    const { code, output } = await spawnVarve(serve).exited;
    expect(code, output).toBe(1);
    expect(output).toContain(`Varve does not write to the indices ${space}-* in Elasticsearch`);
    expect(await names(original)).toEqual(['kept']);
    await original.stop();
    const adopted = await start('copy', '--adopt');
    expect(await names(adopted)).toEqual(['kept']);
    await adopted.dispose();
  });

  it('are made again for an earlier state of the log that owns them after --adopt', {
    timeout: 300_000,
  }, async () => {
    const before = await start('original', '--adopt');
    await before.stop();
    cpSync(before.data, join(folder, 'earlier'), { recursive: true });
    const later = await start('original', '--adopt');
    const ask = createAsk(later.url);
    const [{ documentId }] = (await ask('/api/tags')).body.data;
    const renamed = await ask(`/api/tags/${documentId}`, {
      method: 'PUT',
      body: { data: { name: 'renamed' } },
    });
    expect(renamed.status).toBe(200);
    const body = { data: { key: 'late', name: 'late' } };
    expect((await ask('/api/tags', { method: 'POST', body })).status).toBe(201);
    await later.stop();
    const earlier = await start('earlier', '--adopt');
    expect(await names(earlier)).toEqual(['kept']);
    const edit = { data: { name: 'edited' } };
    const edited = await createAsk(earlier.url)(`/api/tags/${documentId}`, { method: 'PUT', body: edit });
    expect(edited.status).toBe(200);
    expect(await names(earlier)).toEqual(['edited']);
    await earlier.dispose();
  });
});
