import { rmSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { foundSums, indexDigests, rebuiltSums } from '../support/document-sums.ts';
import { elasticsearchUrl, needsElasticsearch, needsOwnElasticsearch } from '../support/elasticsearch.ts';
import { startOwnNode } from '../support/own-node.ts';
import { removeIndices } from '../support/remove-indices.ts';
import { createDataDirectory, type RunningServer, startServer } from '../support/server.ts';
import { takesMinutes } from '../support/takes-minutes.ts';
import { createDocumentIds, startWriteLoad } from '../support/write-load.ts';

/**
 * kill -9 in the middle of writes. The server loses the writes that its workers had not finished, and Elasticsearch loses those that it
 * had not answered. ELASTICSEARCH_KILL_ROUNDS=20 for a full run.
 */
const ROUNDS = Number(process.env['ELASTICSEARCH_KILL_ROUNDS'] ?? 2);
const WRITERS = 6;

function startVarve(data: string, url: string, space: string): Promise<RunningServer> {
  return startServer({ data, arguments: ['--read-index', url, '--space', space] });
}

async function backlog(server: RunningServer): Promise<number> {
  const metrics = await (await fetch(`${server.url}/metrics`)).text();
  const [, value] = /^varve_fanout_backlog_documents(?:\{[^}]*\})? (\d+)/m.exec(metrics) ?? [];
  return Number(value);
}

/** Waits for the backlog. Expects the same documents as in a rebuild: none is missing and none is left over. */
async function expectSameAsRebuilt(server: RunningServer, data: string, url: string, space: string) {
  await expect.poll(() => backlog(server)).toBe(0);
  const expected = await rebuiltSums(data, space);
  expect(expected.size).toBeGreaterThan(20);
  let found = await foundSums(url, space);
  // Retry, since the last refresh may not have finished.
  for (let tries = 0; tries < 120 && !isSame(found, expected); tries++) {
    await delay(250);
    found = await foundSums(url, space);
  }
  // Compared document by document, since a digest would not show which ones differ.
  expect([...found].sort()).toEqual([...expected].sort());
  const digests = indexDigests(found);
  expect(digests.size).toBeGreaterThan(5);
  expect(digests).toEqual(indexDigests(expected));
}

function isSame(a: ReadonlyMap<string, string>, b: ReadonlyMap<string, string>): boolean {
  return a.size === b.size && [...a].every(([name, sum]) => b.get(name) === sum);
}

const skip = takesMinutes('kills of Elasticsearch');

describe('documents in Elasticsearch', await needsElasticsearch(skip), () => {
  it(`are those of a clean rebuild after ${ROUNDS} kills of the server`, {
    timeout: ROUNDS * 60_000 + 120_000,
  }, async () => {
    const url = await elasticsearchUrl();
    const space = `kill_${process.pid}`;
    const data = createDataDirectory();
    let server = await startVarve(data, url, space);
    onTestFinished(async () => {
      await server.dispose();
      await removeIndices(url, space);
      rmSync(data, { recursive: true, force: true });
    });
    const ids = createDocumentIds();
    for (let round = 1; round <= ROUNDS; round++) {
      const load = startWriteLoad(server.url, ids, WRITERS, round);
      await load.written(40 + ((round * 37) % 80));
      expect((await server.stop('SIGKILL')).signal).toBe('SIGKILL');
      await load.stop();
      expect(load.answered()).toBeGreaterThanOrEqual(40);
      server = await startVarve(data, url, space);
      await expectSameAsRebuilt(server, data, url, space);
    }
  });
});

describe('documents in an Elasticsearch that is killed', await needsOwnElasticsearch(skip), () => {
  it(`are those of a clean rebuild after ${ROUNDS} kills of the node`, {
    timeout: ROUNDS * 120_000 + 240_000,
  }, async () => {
    const node = await startOwnNode();
    const { url } = node;
    const data = createDataDirectory();
    const server = await startVarve(data, url, 'dying');
    onTestFinished(async () => {
      await server.dispose();
      node.dispose();
      rmSync(data, { recursive: true, force: true });
    });
    const ids = createDocumentIds();
    for (let round = 1; round <= ROUNDS; round++) {
      const load = startWriteLoad(server.url, ids, WRITERS, round);
      await load.written(40 + ((round * 53) % 80));
      node.kill();
      // Writes continue while Elasticsearch is away. They are stored, and answered with 202 if visibility takes too long.
      await Promise.all([node.start(), load.written(WRITERS)]);
      await load.written(30);
      await load.stop();
      await expectSameAsRebuilt(server, data, url, 'dying');
    }
  });
});
