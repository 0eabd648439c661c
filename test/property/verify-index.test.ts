import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type ContentGraph, openContentGraph } from '../../projections/graph/content-graph.ts';
import type { VerificationLine } from '../../projections/verification/difference.ts';
import { verifyRows } from '../../projections/verification/verify-rows.ts';
import { createEmbeddedIndex, type EmbeddedIndex } from '../../shared/read-index/embedded/embedded-index.ts';
import type { ChangeBatch } from '../../shared/read-index/read-index.ts';
import { createLog, DEFINITIONS } from '../unit/graph-fixture.ts';
import { historyOf, steps } from '../unit/graph-history.ts';

const RUNS = Math.ceil(Number(process.env['VARVE_PROPERTY_RUNS'] ?? 200) / 20);
const SEED = Number(process.env['VARVE_PROPERTY_SEED'] ?? 14);

type Damage = (loaded: Loaded, at: number) => ChangeBatch | undefined;
type Loaded = { readonly graph: ContentGraph; readonly index: EmbeddedIndex };

/** Kinds of damage to an index. A number picks the row or link that is damaged. */
const DAMAGES: Readonly<Record<string, Damage>> = {
  'a row that is gone': ({ graph }, at) => {
    const row = pick(rowsOf(graph), at);
    return row && { position: graph.position(), rows: [{ ...row, row: null }], links: [] };
  },
  'an answer that is another': ({ graph }, at) => {
    const row = pick(rowsOf(graph), at);
    if (row?.row == null) return undefined;
    const other = { ...row.row, source: Buffer.from('{"id":0}') };
    // The row still exists, so its links stay.
    return { position: graph.position(), rows: [{ ...row, row: other }], links: [] };
  },
  'a column that is another': ({ graph }, at) => {
    const row = pick(rowsOf(graph), at);
    if (row?.row == null) return undefined;
    const fields = { ...row.row.fields, createdAt: 1 };
    return { position: graph.position(), rows: [{ ...row, row: { ...row.row, fields } }], links: [] };
  },
  'a link that is gone': ({ graph }, at) => {
    const link = pick(
      [...graph.readAll()].flatMap(({ links }) => links),
      at,
    );
    return link && { position: graph.position(), rows: [], links: [{ ...link, order: null }] };
  },
  'a row that should be gone': ({ graph }, at) => {
    const row = pick(rowsOf(graph), at);
    if (row === undefined) return undefined;
    return { position: graph.position(), rows: [{ ...row, key: row.key + 4_000_000 }], links: [] };
  },
};

function rowsOf(graph: ContentGraph) {
  return [...graph.readAll()].flatMap(({ rows }) => rows);
}

function pick<Item>(items: readonly Item[], at: number): Item | undefined {
  return items[at % Math.max(1, items.length)];
}

async function differencesOf({ graph, index }: Loaded, repair: boolean) {
  const signal = new AbortController().signal;
  const found: VerificationLine[] = [];
  for await (const line of verifyRows({ graph, index, content: index.content, repair, pauseMs: 0, signal }))
    found.push(line);
  return found.filter((line) => line.kind === 'difference');
}

describe(`verification of an index of rows (seed ${SEED}, ${RUNS} runs)`, () => {
  it('finds no difference in an index that applied all events, names damage, and repairs it', async () => {
    const histories = fc.tuple(steps(), steps(), fc.constantFrom(...Object.keys(DAMAGES)), fc.nat());
    let damaged = 0;
    const property = fc.asyncProperty(histories, async ([before, after, damage, at]) => {
      const directory = mkdtempSync(join(tmpdir(), 'varve-verify-'));
      const graph = openContentGraph(join(directory, 'graph.db'));
      try {
        const log = createLog();
        graph.apply(log.add(...DEFINITIONS, ...historyOf(before)));
        const index = createEmbeddedIndex({ registry: graph.registry() });
        for (const batch of graph.readAll()) await index.apply(batch);
        const later = historyOf([...before, ...after]).slice(historyOf(before).length);
        for (const event of later) await index.apply(graph.apply(log.add(event)));
        const loaded = { graph, index };
        expect(await differencesOf(loaded, false)).toEqual([]);
        const harm = DAMAGES[damage]?.(loaded, at);
        if (harm === undefined) return;
        damaged++;
        await index.apply(harm);
        const found = await differencesOf(loaded, false);
        expect(found.length, damage).toBeGreaterThan(0);
        expect(await differencesOf(loaded, true)).not.toEqual([]);
        expect(await differencesOf(loaded, false)).toEqual([]);
      } finally {
        graph.close();
        rmSync(directory, { recursive: true, force: true });
      }
    });
    await fc.assert(property, { seed: SEED, numRuns: RUNS });
    expect(damaged).toBeGreaterThan(RUNS / 4);
  });
});
