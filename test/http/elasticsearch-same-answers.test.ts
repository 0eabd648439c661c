import { cpSync, rmSync } from 'node:fs';
import { expect, it, onTestFinished } from 'vitest';
import { AS_RECORDED, startLoadedServer } from '../conformance/run-corpus.ts';
import { elasticsearchUrl, hasElasticsearch } from '../support/elasticsearch.ts';
import { createRequestSource } from '../support/random-requests.ts';
import { removeIndices } from '../support/remove-indices.ts';
import { createDataDirectory, startServer } from '../support/server.ts';

/**
 * At rest, Elasticsearch answers what the embedded engine answers, byte for byte, refusals included. SAME_ANSWERS=5000 for a full
 * run.
 */
const REQUESTS = Number(process.env['SAME_ANSWERS'] ?? 300);
const SEED = Number(process.env['VARVE_PROPERTY_SEED'] ?? Date.now() % 2 ** 31);
const AT_ONCE = 4;

async function answerOf(url: string, path: string): Promise<string> {
  const answer = await fetch(url + path);
  return `${answer.status} ${await answer.text()}`;
}

it.runIf(hasElasticsearch())(
  `${REQUESTS} random requests (seed ${SEED}) are answered alike by both engines`,
  { timeout: 120_000 + REQUESTS * 100 },
  async () => {
    const loaded = await startLoadedServer();
    onTestFinished(() => loaded.dispose());
    expect((await loaded.stop()).code).toBe(0);
    const copy = createDataDirectory();
    onTestFinished(() => rmSync(copy, { recursive: true, force: true }));
    cpSync(loaded.data, copy, { recursive: true });
    const embedded = await startServer({ data: loaded.data, env: AS_RECORDED });
    onTestFinished(() => embedded.dispose());
    const url = await elasticsearchUrl();
    const space = `same_${process.pid}`;
    onTestFinished(() => removeIndices(url, space));
    const denormalised = await startServer({
      data: copy,
      env: AS_RECORDED,
      arguments: ['--read-index', url, '--space', space],
    });
    onTestFinished(() => denormalised.dispose());

    const source = createRequestSource(SEED);
    const paths = Array.from({ length: REQUESTS }, () => source.next());
    let found = 0;
    let next = 0;
    const compare = async () => {
      for (let path = paths[next++]; path !== undefined; path = paths[next++]) {
        const [expected, actual] = await Promise.all([
          answerOf(embedded.url, path),
          answerOf(denormalised.url, path),
        ]);
        expect(actual, path).toBe(expected);
        if (expected.startsWith('200')) found++;
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, compare));
    // Most of them are no refusals.
    expect(found).toBeGreaterThan(REQUESTS / 2);
  },
);
