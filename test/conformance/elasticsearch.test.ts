import { cpSync, readFileSync, rmSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { elasticsearchUrl, needsElasticsearch } from '../support/elasticsearch.ts';
import { createRequestSource } from '../support/random-requests.ts';
import { removeIndices } from '../support/remove-indices.ts';
import { createDataDirectory, type RunningServer, startServer } from '../support/server.ts';
import { takesMinutes } from '../support/takes-minutes.ts';
import { AS_RECORDED, runCorpus, startLoadedServer } from './run-corpus.ts';

/**
 * Two servers on the same log, of which one reads from Elasticsearch. When caught up, their answers are equal byte for byte, including
 * refusals. SAME_ANSWERS=5000 for a full run. The embedded server loads the corpus, which is faster.
 * `npm run conformance -- --read-index URL` loads it through Elasticsearch.
 */
const REQUESTS = Number(process.env['SAME_ANSWERS'] ?? 300);
const SEED = Number(process.env['VARVE_PROPERTY_SEED'] ?? 14);
const AT_ONCE = 4;

type BenchmarkQuery = { readonly name: string; readonly path: string };
const BENCHMARK = JSON.parse(
  readFileSync(new URL('bench/queries.json', import.meta.url), 'utf8'),
) as readonly BenchmarkQuery[];

/** Queries that go beyond the default copies of a type: two to-one relations, and one relation that the type owns. */
const BEYOND_COPIES = [
  'deep to-many, 1 level x 2 relations',
  'deep to-many, 2 levels',
  '3 levels with $or',
  '4 levels from reviews',
];
const POPULATED_LEVELS: Readonly<Record<string, number>> = { 'draft deep + populate': 2 };

type Explained = {
  readonly meta: {
    readonly explain: {
      readonly engine: {
        readonly semiJoins: readonly unknown[];
        readonly requests: readonly (readonly unknown[])[];
      };
    };
  };
};

async function answerOf(url: string, path: string): Promise<string> {
  const answer = await fetch(url + path);
  return `${answer.status} ${await answer.text()}`;
}

describe(
  'the corpus on Elasticsearch',
  await needsElasticsearch(takesMinutes('the corpus on Elasticsearch')),
  () => {
    const space = `corpus_${process.pid}`;
    let copy: string;
    let embedded: RunningServer;
    let server: RunningServer;

    beforeAll(async () => {
      const inSpace = ['--space', space];
      const loaded = await startLoadedServer({ env: AS_RECORDED, arguments: inSpace });
      expect((await loaded.stop()).code).toBe(0);
      copy = createDataDirectory();
      cpSync(loaded.data, copy, { recursive: true });
      embedded = await startServer({ data: loaded.data, env: AS_RECORDED, arguments: inSpace });
      const onElasticsearch = ['--read-index', await elasticsearchUrl(), ...inSpace];
      server = await startServer({ data: copy, env: AS_RECORDED, arguments: onElasticsearch });
    }, 300_000);

    afterAll(async () => {
      await Promise.all([embedded?.dispose(), server?.dispose()]);
      for (const data of [copy, embedded?.data]) {
        if (data !== undefined) rmSync(data, { recursive: true, force: true });
      }
      await removeIndices(await elasticsearchUrl(), space);
    });

    it(`${REQUESTS} random requests (seed ${SEED}) are answered as by the embedded index, byte for byte`, {
      timeout: 300_000 + REQUESTS * 100,
    }, async () => {
      const source = createRequestSource(SEED);
      const paths = Array.from({ length: REQUESTS }, () => source.next());
      let found = 0;
      let next = 0;
      const compare = async () => {
        for (let path = paths[next++]; path !== undefined; path = paths[next++]) {
          const [expected, actual] = await Promise.all([
            answerOf(embedded.url, path),
            answerOf(server.url, path),
          ]);
          expect(actual, path).toBe(expected);
          if (expected.startsWith('200')) found++;
        }
      };
      await Promise.all(Array.from({ length: AT_ONCE }, compare));
      // Most answers are not refusals.
      expect(found).toBeGreaterThan(REQUESTS / 2);
    });

    it.each(BENCHMARK)('$name: one request, and one for each level populated', async ({ name, path }) => {
      const answer = await fetch(`${server.url}${path}&explain=true`);
      const { semiJoins, requests } = ((await answer.json()) as Explained).meta.explain.engine;
      if (BEYOND_COPIES.includes(name)) return expect(semiJoins).not.toEqual([]);
      expect(semiJoins).toEqual([]);
      expect(requests).toHaveLength(1 + (POPULATED_LEVELS[name] ?? 0));
      expect(requests[0]).toHaveLength(1);
    });

    it('are answered as recorded, writes included', { timeout: 300_000 }, async () => {
      const { code, output } = await runCorpus(server.url, ['--max', '10'], 'collect');
      expect(output).toMatch(/\b[1-9]\d{3} passed, 0 failed\s*$/);
      expect(code).toBe(0);
    });
  },
);
