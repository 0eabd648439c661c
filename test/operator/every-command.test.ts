import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createAsk } from '../support/access-client.ts';
import { elasticsearchUrl, needsElasticsearch } from '../support/elasticsearch.ts';
import { removeIndices } from '../support/remove-indices.ts';
import { type Ran, runVarve } from '../support/run-varve.ts';
import {
  CONFORMANCE_SCHEMA,
  createDataDirectory,
  type RunningServer,
  startServer,
} from '../support/server.ts';
import { takesMinutes } from '../support/takes-minutes.ts';

/** A command and its expected stdout, with and without a running server. `{folder}` is a new folder each time. */
type Row = { readonly args: readonly string[]; readonly shows: RegExp; readonly stderr?: RegExp };

const NOTHING = /^$/;
const COMMANDS: readonly Row[] = [
  { args: ['status'], shows: /content graph +sqlite +\d +\d+ +none +\d+/ },
  { args: ['events'], shows: /entry-created +api::country\.country/ },
  { args: ['verify', '--repair', '--json'], shows: /"differences":0,"left":0/ },
  { args: ['parked', 'list'], shows: NOTHING, stderr: /There are no parked documents/ },
  { args: ['parked', 'retry', '--all'], shows: /^0 documents are written again\n$/ },
  { args: ['parked', 'drop', '--all'], shows: /^0 documents are dropped\n$/ },
  { args: ['backup', '{folder}/backup'], shows: /\d+ events up to position \d+ and 0 uploaded files/ },
  { args: ['export', '-'], shows: /^\{"varve":"export".*\n[\s\S]*\{"end":true/ },
  { args: ['token', 'list'], shows: NOTHING, stderr: /There are no tokens/ },
  {
    args: ['types', 'diff', '--content-types', CONFORMANCE_SCHEMA],
    shows: /^A start changes nothing\.\n$/,
  },
  { args: ['rebuild'], shows: /^generation \d+ is live; varve rollback switches back\n$/ },
  { args: ['rollback'], shows: /^generation \d+ is live; varve rollback switches back again\n$/ },
  { args: ['drop'], shows: /^generation \d+ is removed\n$/ },
];
const REFUSED: readonly Row[] = [
  {
    args: ['parked', 'show', 'published/1'],
    shows: NOTHING,
    stderr: /no refused document is called published\/1/,
  },
  { args: ['parked', 'retry'], shows: NOTHING, stderr: /pass items of varve parked list, or pass --all/ },
  { args: ['token', 'revoke', 'none'], shows: NOTHING, stderr: /There is no token "none" in force/ },
  { args: ['export', ''], shows: NOTHING, stderr: /the name of the file is empty/ },
  { args: ['restore', '{folder}'], shows: NOTHING, stderr: /is not a complete backup/ },
];

const skip = takesMinutes('every command on both');
const ENGINES = [
  { engine: 'embedded', options: skip },
  { engine: 'elasticsearch', options: await needsElasticsearch(skip) },
];

function nameOf({ args }: Row): string {
  return args.join(' ');
}

for (const { engine, options } of ENGINES)
  describe(`with the read index ${engine}`, options, () => {
    const data = createDataDirectory();
    const space = `every_${process.pid}`;
    let env: Readonly<Record<string, string>> = {};
    let folders = 0;
    let server: RunningServer | undefined;

    beforeAll(async () => {
      if (engine === 'elasticsearch')
        env = { VARVE_READ_INDEX: await elasticsearchUrl(), VARVE_SPACE: space };
      server = await startServer({ data, env });
      for (const name of ['Norway', 'Peru']) {
        const body = { data: { key: name, name } };
        expect((await createAsk(server.url)('/api/countries', { method: 'POST', body })).status).toBe(201);
      }
    }, 180_000);
    afterAll(async () => {
      await server?.dispose();
      if (engine === 'elasticsearch') await removeIndices(await elasticsearchUrl(), space);
      rmSync(data, { recursive: true, force: true });
      rmSync(`${data}-out`, { recursive: true, force: true });
    });

    function run({ args }: Row): Promise<Ran> {
      const folder = join(`${data}-out`, String(folders++));
      return runVarve([...args.map((arg) => arg.replace('{folder}', folder)), '--data', data], env);
    }

    describe.each(['running', 'stopped'])('with the server %s', (state) => {
      beforeAll(async () => {
        if (state === 'stopped') await server?.stop();
      });

      it.each(COMMANDS.map((row) => [nameOf(row), row] as const))(
        'varve %s',
        async (_name, row) => {
          const { code, stdout, stderr } = await run(row);
          expect(code, stdout + stderr).toBe(0);
          expect(stdout).toMatch(row.shows);
          expect(stderr).toMatch(row.stderr ?? /^/);
        },
        180_000,
      );

      it.each(REFUSED.map((row) => [nameOf(row), row] as const))('refuses varve %s', async (_name, row) => {
        const { code, stdout, stderr } = await run(row);
        expect({ code, stdout }, stderr).toEqual({ code: 1, stdout: '' });
        expect(stderr).toMatch(row.stderr ?? /^$/);
      });
    });
  });
