import { rmSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { foundSums, indexDigests, rebuiltSums } from '../support/document-sums.ts';
import { needsElasticsearch } from '../support/elasticsearch.ts';
import { SEEDED, seedKitchen } from '../support/killed-rebuild.ts';
import { createKitchenTypes } from '../support/kitchen.ts';
import { type OwnNode, startOwnNode } from '../support/own-node.ts';
import { createDataDirectory, type RunningServer, spawnVarve, startServer } from '../support/server.ts';
import { takesMinutes } from '../support/takes-minutes.ts';

/** Elasticsearch itself is killed while a generation is made. REBUILD_NODE_KILLS=20 for a full run. */
const KILLS = Number(process.env['REBUILD_NODE_KILLS'] ?? 3);
/** Phases in which Elasticsearch is killed, in turn. */
const PHASES = ['indexing', 'verifying', 'taking over', 'replaying'] as const;
const WITHIN_MS = 800;
const MAX_RATE = 1_500;

const contentTypes = createKitchenTypes();
const data = createDataDirectory();
const space = `node_kill_${process.pid}`;
let node: OwnNode;
let server: RunningServer;
const own = () => ['--data', data, '--read-index', node.url, '--space', space];

async function createCook(name: string): Promise<void> {
  const answer = await fetch(`${server.url}/api/cooks`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ data: { name } }),
  });
  // 202: the write is stored. Searches show it when the index is back.
  expect([201, 202]).toContain(answer.status);
}

/** Rebuilds, and kills the node in `phase` or after it. Resolves to the actual phase. */
async function rebuildWithoutNode(
  options: readonly string[],
  phase: string,
  cook: string,
): Promise<string | undefined> {
  const { child, exited, output } = spawnVarve([
    ...['rebuild', '--json', '--max-rate', String(MAX_RATE)],
    ...[...options, ...own()],
  ]);
  await new Promise<void>((resolve) => {
    child.stdout?.on('data', () => output().includes(`"phase":"${phase}"`) && resolve());
    void exited.then(() => resolve());
  });
  await delay(Math.random() * WITHIN_MS);
  node.kill();
  const killedIn = [...output().matchAll(/"phase":"([^"]*)"/g)].at(-1)?.[1];
  const wrote = createCook(cook);
  await node.start();
  const ended = await exited;
  expect({ code: ended.code, output: ended.output }).toMatchObject({
    code: 0,
    output: expect.stringContaining('"phase":"done"'),
  });
  await wrote;
  return killedIn;
}

const skip = takesMinutes('Elasticsearch being killed during rebuilds');

describe('a rebuild whose Elasticsearch is killed', await needsElasticsearch(skip), () => {
  beforeAll(async () => {
    node = await startOwnNode();
    await seedKitchen(['--content-types', contentTypes, '--data', data, '--space', space]);
    server = await startServer({
      contentTypes,
      data,
      arguments: ['--read-index', node.url, '--space', space],
    });
  }, 300_000);
  afterAll(async () => {
    await server?.dispose();
    node?.dispose();
    for (const folder of [data, contentTypes]) rmSync(folder, { recursive: true, force: true });
  });

  it(`waits for it, loses nothing and has nothing twice (${KILLS} kills)`, {
    timeout: 300_000 + KILLS * 180_000,
  }, async () => {
    const phases: (string | undefined)[] = [];
    for (let round = 0; round < KILLS; round++) {
      const phase = PHASES[round % PHASES.length] as string;
      phases.push(await rebuildWithoutNode(round % 2 === 0 ? ['--graph'] : [], phase, `kept ${round}`));
    }
    console.log(`killed during: ${phases.join(', ')}`);
    const total = async () => {
      const answer = await fetch(`${server.url}/api/cooks?pagination[pageSize]=1`);
      const { meta } = (await answer.json()) as { meta?: { pagination: { total: number } } };
      return meta?.pagination.total;
    };
    await expect.poll(total, { timeout: 60_000 }).toBe(SEEDED + KILLS);
    expect((await server.stop()).code).toBe(0);
    expect(indexDigests(await foundSums(node.url, space))).toEqual(
      indexDigests(await rebuiltSums(data, space)),
    );
  });
});
