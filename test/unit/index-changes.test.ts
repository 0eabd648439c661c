import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { openContentGraph } from '../../projections/graph/content-graph.ts';
import { openGraphDatabase } from '../../projections/graph/store/graph-database.ts';
import { openIndexChanges } from '../../projections/graph/store/index-changes.ts';
import type { ChangeBatch } from '../../shared/read-index/read-index.ts';
import { dataForTest } from '../support/data-for-test.ts';
import { changed, created, createLog, DEFINITIONS, deleted } from './graph-fixture.ts';
import { SOME } from './writer-fixture.ts';

/** Opens a graph with content types and some rows. */
function openGraph() {
  const file = join(dataForTest(), 'graph.db');
  const log = createLog();
  let graph = openContentGraph(file);
  onTestFinished(() => graph.close());
  graph.apply(log.add(...DEFINITIONS, ...SOME));
  return {
    log,
    graph: () => graph,
    reopen() {
      graph.close();
      graph = openContentGraph(file);
    },
  };
}

it('records what an index has to apply, also without one, until the next snapshot', () => {
  const { log, graph, reopen } = openGraph();
  expect(graph().indexChanges.after(graph().position())).toBeUndefined();
  const since = graph().position();
  graph().indexChanges.begin(since);
  const first = graph().apply(log.add(changed('restaurant', 'r1', { values: { name: 'Eins' } })));
  reopen();
  graph().replay(log.add(created('tag', 't1'), deleted('restaurant', 'r2')));
  const [recorded, replayed, ...others] = graph().indexChanges.after(since) ?? [];
  expect(others).toEqual([]);
  expect(recorded).toEqual(first);
  expect(replayed?.rows.map(({ row }) => row === null)).toEqual(expect.arrayContaining([true, false]));
  expect(graph().indexChanges.after(first.position)).toEqual([replayed]);
  expect(graph().indexChanges.after(since - 1n)).toBeUndefined();
  graph().indexChanges.begin(graph().position());
  expect(graph().indexChanges.after(since)).toBeUndefined();
  expect(graph().indexChanges.after(graph().position())).toEqual([]);
});

it('records nothing from the next change of content types on', () => {
  const { log, graph } = openGraph();
  const since = graph().position();
  graph().indexChanges.begin(since);
  graph().apply(log.add(...DEFINITIONS));
  graph().apply(log.add(created('tag', 't1')));
  expect(graph().indexChanges.after(since)).toBeUndefined();
});

it('ends the record when it is larger than a load of the graph is worth', () => {
  const db = openGraphDatabase(':memory:');
  onTestFinished(() => db.close());
  const changes = openIndexChanges(db, 1_000);
  changes.begin(1n);
  const batch = (position: bigint, bytes: number): ChangeBatch => {
    const row = { source: new Uint8Array(bytes), fields: {}, components: {} };
    return { position, rows: [{ type: 'api::tag.tag', version: 'live', key: 2, row }], links: [] };
  };
  changes.add(batch(2n, 600), false);
  expect(changes.after(1n)).toHaveLength(1);
  // The size is also known after a restart.
  const reopened = openIndexChanges(db, 1_000);
  reopened.add(batch(3n, 600), false);
  expect(reopened.after(1n)).toBeUndefined();
  expect(openIndexChanges(db).isRecording()).toBe(false);
  expect(db.get('SELECT count(*) FROM index_changes')).toEqual([0]);
});
