import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { elasticsearchUrl, needsElasticsearch } from '../support/elasticsearch.ts';
import { createKitchenTypes } from '../support/kitchen.ts';
import { removeIndices } from '../support/remove-indices.ts';
import { runVarve } from '../support/run-varve.ts';
import { createDataDirectory, startServer } from '../support/server.ts';
import { takesMinutes } from '../support/takes-minutes.ts';

/** More documents than a filling has without a merge. */
const COOKS = 5_100;
const PATIENT = { timeout: 120_000, interval: 200 };

type Index = { readonly index: string; readonly 'docs.count': string };

const rebuild = ['rebuild', '--type', 'cook', '--world', 'published'];
const options = await needsElasticsearch(takesMinutes('merges after a rebuild'));
describe('indices of more than 5,000 documents', options, () => {
  it('are merged after a start that fills them, and before a rebuild switches, which can be cancelled', {
    timeout: 400_000,
  }, async () => {
    const url = await elasticsearchUrl();
    const space = `merge_${process.pid}`;
    const [contentTypes, data] = [createKitchenTypes(), createDataDirectory()];
    const file = join(data, '..', `cook-${process.pid}.jsonl`);
    const cook = (_: unknown, at: number) =>
      JSON.stringify({ type: 'cook', key: `c${at}`, state: 'published', data: { name: `Cook ${at}` } });
    writeFileSync(file, Array.from({ length: COOKS }, cook).join('\n'));
    const own = ['--data', data, '--read-index', url, '--space', space];
    const settings = ['--content-types', contentTypes, '--data', data, '--space', space];
    const loaded = await runVarve(['import', ...settings, file]);
    expect(loaded, loaded.stderr).toMatchObject({ code: 0 });
    const server = await startServer({
      contentTypes,
      data,
      arguments: [...own.slice(2), '--log-level', 'info'],
    });
    onTestFinished(async () => {
      await server.dispose();
      await removeIndices(url, space);
      for (const path of [contentTypes, data, file]) rmSync(path, { recursive: true, force: true });
    });
    const cooks = async (): Promise<readonly Index[]> => {
      const found = await fetch(`${url}/_cat/indices/${space}-api_cook_cook-published-*?format=json`);
      return (await found.json()) as Index[];
    };
    const segments = async (index: string) => {
      const found = await fetch(`${url}/_cat/segments/${index}?format=json`);
      return ((await found.json()) as object[]).length;
    };
    const total = async () => {
      const answer = await fetch(`${server.url}/api/cooks?pagination[pageSize]=1`);
      return ((await answer.json()) as { meta: { pagination: { total: number } } }).meta.pagination.total;
    };
    const merges = () => server.output().split('the segments of the indices are merged').length - 1;
    expect(await total()).toBe(COOKS);
    await expect.poll(merges, PATIENT).toBe(1);

    const filled = async () =>
      (await cooks()).filter((index) => Number(index['docs.count']) === COOKS).length;
    let isCancelled = false;
    // A merge begins up to 30 s after the filling. One that begins at once may be over before it is cancelled.
    for (let tries = 0; !isCancelled && tries < 4; tries++) {
      let early: object | undefined;
      const rebuilding = runVarve([...rebuild, ...own]).then((ended) => {
        early = ended;
        return ended;
      });
      const isFilled = async () => (await filled()) === 2 || early;
      await expect.poll(isFilled, PATIENT).toBe(true);
      // A command starts too slowly on a busy machine.
      const body = JSON.stringify({ data: { wanted: 'cancel' } });
      const headers = { 'content-type': 'application/json' };
      await fetch(`${server.url}/_varve/operations/interrupt`, { method: 'POST', headers, body });
      const ended = await rebuilding;
      isCancelled = (ended.stdout + ended.stderr).includes('an operator cancelled the rebuild');
      if (!isCancelled) expect(await runVarve(['drop', ...own])).toMatchObject({ code: 0 });
    }
    expect(isCancelled).toBe(true);
    expect(await cooks()).toHaveLength(1);

    const rebuilt = await runVarve([...rebuild, ...own]);
    expect(rebuilt, rebuilt.stderr).toMatchObject({ code: 0, stdout: expect.stringContaining('is live') });
    const newest = (await cooks())
      .map(({ index }) => index)
      .sort()
      .at(-1) as string;
    expect(await segments(newest)).toBe(1);
    expect(await total()).toBe(COOKS);
  });
});
