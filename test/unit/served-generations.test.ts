import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { openContentGraph } from '../../projections/graph/content-graph.ts';
import { graphFile } from '../../projections/graph/store/generation-files.ts';
import { openServedGenerations } from '../../services/read-side/open-generations.ts';
import { openSqliteEventStore } from '../../shared/event-store/sqlite/sqlite-event-store.ts';
import { upcast } from '../../shared/events/upcasters.ts';

/** A process that was replaced answers its last requests for some seconds. Meanwhile it removes older generations again. */
it('a replaced process keeps its generation, for a rollback, and its successor removes the one before', async () => {
  const data = mkdtempSync(join(tmpdir(), 'varve-served-'));
  onTestFinished(() => rmSync(data, { recursive: true, force: true }));
  const log = openSqliteEventStore(join(data, 'events.db'), { space: 'varve', decode: upcast });
  onTestFinished(() => log.close());
  const open = (generation: number) => {
    openContentGraph(graphFile(data, generation)).close();
    const served = openServedGenerations({ data, log, plan: undefined, generation });
    onTestFinished(served.close);
    return served;
  };
  const first = open(1);
  first.enter();
  const begin = () => first.store.begin({ graph: true }, '2030-01-01T00:00:00.000Z').generation;
  const second = open(begin());
  second.enter();
  expect(await second.removeOlder()).toEqual([]);
  const third = open(begin());
  third.enter();
  expect(await second.removeOlder()).toEqual([]);
  expect(existsSync(graphFile(data, 2))).toBe(true);
  expect(await third.removeOlder()).toEqual([1]);
  expect(third.store.generations().map(({ number, state }) => `${number} ${state}`)).toEqual([
    '2 kept',
    '3 live',
  ]);
});
