import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createAsk } from '../support/access-client.ts';
import { base64 } from '../support/base64.ts';
import { elasticsearchUrl, needsElasticsearch } from '../support/elasticsearch.ts';
import { removeIndices } from '../support/remove-indices.ts';
import { type Ran, runVarve } from '../support/run-varve.ts';
import { type RunningServer, startServer } from '../support/server.ts';
import { takesMinutes } from '../support/takes-minutes.ts';

const onElasticsearch = await needsElasticsearch();

async function startWithCountries(
  names: readonly string[],
  arguments_: readonly string[] = [],
): Promise<RunningServer> {
  const server = await startServer({ arguments: arguments_ });
  onTestFinished(() => server.dispose());
  const ask = createAsk(server.url);
  for (const name of names) {
    const { status } = await ask('/api/countries', { method: 'POST', body: { data: { key: name, name } } });
    expect(status).toBe(201);
  }
  return server;
}

function linesOf({ stdout }: Ran): readonly string[] {
  return stdout.trim().split('\n');
}

describe('varve verify', () => {
  it('finds no difference, with and without a server, and says how much it compared', async () => {
    const server = await startWithCountries(['Norway', 'Peru']);
    const args = ['verify', '--data', server.data];
    const running = await runVarve(args);
    expect(running, running.stderr).toMatchObject({ code: 0 });
    expect(linesOf(running).at(-1)).toBe('no differences');
    // Progress is for terminals.
    expect(running.stderr).toBe('');
    await server.stop();
    const stopped = await runVarve(args);
    expect(stopped, stopped.stderr).toMatchObject({ code: 0 });
    expect(linesOf(stopped).at(-1)).toBe('no differences');
  });

  it(
    'names --space if the server has another one and its directory does not say so',
    takesMinutes('verifications of files and of another space'),
    async () => {
      const server = await startWithCountries(['Norway'], ['--space', 'blog']);
      rmSync(join(server.data, 'log.json'));
      const { code, stdout, stderr } = await runVarve(['verify', '--data', server.data]);
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
      expect(stderr).toMatch(/graph\.db was made from another log .* pass .* --space of the server/);
      expect(await runVarve(['verify', '--space', 'blog', '--data', server.data])).toMatchObject({ code: 0 });
    },
  );

  it(
    'finds uploaded files whose content is missing',
    takesMinutes('verifications of files and of another space'),
    async () => {
      const server = await startWithCountries([]);
      const form = new FormData();
      form.append('files', new Blob(['one'], { type: 'text/plain' }), 'one.txt');
      form.append('files', new Blob(['two'], { type: 'text/plain' }), 'two.txt');
      const { body } = await createAsk(server.url)('/api/upload', { method: 'POST', body: form });
      const args = ['verify', '--assets', '--data', server.data];
      const whole = await runVarve(args);
      expect(whole, whole.stdout + whole.stderr).toMatchObject({ code: 0 });
      expect(whole.stdout).toContain('checked the content of 2 uploaded files');
      const [{ documentId, hash }] = body;
      rmSync(join(server.data, 'assets', hash.slice(0, 2), hash));
      const lacking = await runVarve(args);
      expect(lacking.code).toBe(1);
      expect(lacking.stdout).toContain(`uploaded file: ${documentId}, ${hash}: missing`);
      expect(lacking.stderr).toContain('restore the missing uploaded files');
    },
  );

  it('names differences in the graph and in the index that was made from it', async () => {
    const server = await startWithCountries(['Norway', 'Peru', 'Chad']);
    const graph = new DatabaseSync(join(server.data, 'graph.db'));
    const changed = "CAST(replace(CAST(source AS TEXT), 'Peru', 'Pern') AS BLOB)";
    graph.exec(`UPDATE rows SET source = ${changed} WHERE instr(CAST(source AS TEXT), 'Peru') > 0`);
    graph.close();
    const { code, stdout, stderr } = await runVarve(['verify', '--data', server.data, '--json']);
    expect(code).toBe(1);
    const found = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(found).toMatchObject([
      {
        kind: 'read index',
        type: 'api::country.country',
        differing: ['answer', 'key', 'name'],
        repaired: false,
      },
      { kind: 'read index', world: 'published' },
      {
        kind: 'content graph',
        group: 'rows of api::country.country, live',
        name: expect.stringMatching(/^\d+ [a-z0-9]+$/),
        differing: ['content'],
      },
      { kind: 'summary', differences: 3, left: 3 },
    ]);
    expect(stderr).toContain('varve rebuild --graph');
  });

  it('names documents of Elasticsearch that differ, and has them written again', {
    ...onElasticsearch,
    timeout: 180_000,
  }, async () => {
    const url = await elasticsearchUrl();
    const space = `verify_${process.pid}`;
    onTestFinished(() => removeIndices(url, space));
    const readIndex = ['--read-index', url, '--space', space];
    const server = await startWithCountries(['Norway', 'Peru', 'Chad', 'Fiji'], readIndex);
    const args = ['verify', '--data', server.data, ...readIndex];
    const clean = await runVarve(args);
    expect(clean, clean.stderr).toMatchObject({ code: 0 });
    await damage(url, `${space}-api_country_country-published`);
    const found = await runVarve([...args, '--json']);
    expect(found.code).toBe(1);
    const differing = linesOf(found).map((line) => JSON.parse(line).differing ?? []);
    expect(differing.flat().sort()).toEqual(['answer', 'columns', 'missing', 'unexpected']);
    const repaired = await runVarve([...args, '--repair']);
    expect(repaired, repaired.stderr).toMatchObject({ code: 0 });
    expect(linesOf(repaired).at(-1)).toBe('3 differences, repaired');
    await expect.poll(async () => (await runVarve(args)).code, { timeout: 30_000 }).toBe(0);
  });
});

describe('varve verify --repair', () => {
  it('does not say that a document is repaired while the index keeps a newer deletion', {
    ...onElasticsearch,
    timeout: 180_000,
  }, async () => {
    const url = await elasticsearchUrl();
    const space = `newer_${process.pid}`;
    onTestFinished(() => removeIndices(url, space));
    const readIndex = ['--read-index', url, '--space', space];
    const server = await startWithCountries(['Norway', 'Peru'], readIndex);
    const index = `${url}/${space}-api_country_country-published`;
    const found = await (await fetch(`${index}/_search`)).json();
    const [{ _id: id }] = (found as { readonly hits: { readonly hits: [{ readonly _id: string }] } }).hits
      .hits;
    const version = 'version=1000000&version_type=external&refresh=true';
    // The number of documents stays the same. Otherwise the leader would make the index again.
    const headers = { 'content-type': 'application/json' };
    const other = { method: 'PUT', headers, body: '{"key":4004}' };
    expect((await fetch(`${index}/_doc/4004?${version}`, other)).status).toBe(201);
    expect((await fetch(`${index}/_doc/${id}?${version}`, { method: 'DELETE' })).status).toBe(200);
    const args = ['verify', '--data', server.data, ...readIndex];
    const repaired = await runVarve([...args, '--repair', '--json']);
    expect(repaired.code).toBe(1);
    const lines = linesOf(repaired).map((line) => JSON.parse(line));
    expect(lines).toMatchObject([
      { kind: 'read index', type: 'api::country.country', differing: ['missing'], repaired: false },
      { kind: 'read index', type: 'api::country.country', differing: ['unexpected'], repaired: false },
      { kind: 'summary', differences: 2, left: 2 },
    ]);
    expect(repaired.stderr).toContain('varve rebuild --type');
  });
});

/** Deletes one document, changes one, and adds one without a row. */
async function damage(url: string, index: string): Promise<void> {
  const send = async (path: string, body?: object, method = 'POST') => {
    const headers = { 'content-type': 'application/json' };
    const init = { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
    const answer = await fetch(`${url}/${index}${path}`, init);
    expect(answer.ok, path).toBe(true);
    return (await answer.json()) as { readonly hits: { readonly hits: readonly { readonly _id: string }[] } };
  };
  const [first, second] = (await send('/_search', { sort: [{ key: 'asc' }] })).hits.hits;
  if (first === undefined || second === undefined) throw new Error('too few documents');
  // These writes increase a document's version by one. It must stay below the log's position, so the newest document is not damaged.
  await send(`/_doc/${first._id}`, undefined, 'DELETE');
  await send(`/_doc/${second._id}`, { key: Number(second._id), src: 'e30=', sum: base64('another') });
  await send('/_doc/4004', { key: 4004, src: 'e30=', sum: base64('one more') });
  await send('/_refresh');
}

describe('varve verify of a damaged log', () => {
  it('names the event, and checks the log with a recorded head', takesMinutes('a damaged log'), async () => {
    const server = await startWithCountries(['Norway', 'Peru']);
    const log = ['--data', server.data];
    const status = JSON.parse((await runVarve(['status', '--json', ...log])).stdout);
    const head = `${status.log.head.position}:${status.log.head.chain}`;
    expect((await runVarve(['status', ...log])).stdout).toContain(`Head    ${head}`);
    await server.stop();
    expect(await runVarve(['verify', '--head', head, ...log])).toMatchObject({ code: 0 });
    const other = await runVarve(['verify', '--head', head.replace(/:..../, ':0000'), ...log]);
    expect(other.stderr).toContain('it is not the log with this head');
    const events = new DatabaseSync(join(server.data, 'events.db'));
    const { position } =
      events.prepare("SELECT max(position) AS position FROM event WHERE data LIKE '%Peru%'").get() ?? {};
    events.exec(`UPDATE event SET data = replace(data, 'Peru', 'Pern') WHERE position = ${Number(position)}`);
    events.close();
    const { code, stdout, stderr } = await runVarve(['verify', ...log]);
    expect({ code, stdout }).toEqual({
      code: 1,
      stdout: expect.stringContaining(`log: event at position ${position} (varve.api__country_country-`),
    });
    expect(stderr).toContain('in the log: restore a backup of it');
  });
});
