import { randomUUID } from 'node:crypto';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { openContentGraph } from '../../projections/graph/content-graph.ts';
import { graphFile, snapshotFile } from '../../projections/graph/store/generation-files.ts';
import { rollbackOperation } from '../../services/operator/generations.ts';
import type { OperatorContext } from '../../services/operator/operation.ts';
import { openServedGenerations } from '../../services/read-side/open-generations.ts';
import { openSqliteEventStore } from '../../shared/event-store/sqlite/sqlite-event-store.ts';
import { upcast } from '../../shared/events/upcasters.ts';
import { dataForTest } from '../support/data-for-test.ts';

const NEVER = new AbortController().signal;

/** Makes a data directory with a generation. `next`: opens the next one, as the process that serves it. */
function createProcesses(handOver?: (generation: number) => Promise<void>) {
  const data = dataForTest();
  const log = openSqliteEventStore(join(data, 'events.db'), { space: 'varve', decode: upcast });
  onTestFinished(() => log.close());
  const open = (generation: number) => {
    openContentGraph(graphFile(data, generation)).close();
    const served = openServedGenerations({ data, log, plan: undefined, generation, handOver });
    onTestFinished(served.close);
    served.enter();
    return served;
  };
  const first = open(1);
  const begin = () => first.store.begin({ graph: true }, '2030-01-01T00:00:00.000Z').generation;
  return { data, next: () => open(begin()) };
}

/** A process that was replaced answers its last requests for some seconds. Meanwhile it removes older generations again. */
it('a replaced process keeps its generation, for a rollback, and its successor removes the one before', async () => {
  const { data, next } = createProcesses();
  const second = next();
  expect(await second.removeOlder()).toEqual([]);
  const third = next();
  expect(await second.removeOlder()).toEqual([]);
  expect(existsSync(graphFile(data, 2))).toBe(true);
  expect(await third.removeOlder()).toEqual([1]);
  expect(third.store.generations().map(({ number, state }) => `${number} ${state}`)).toEqual([
    '2 kept',
    '3 live',
  ]);
});

it('a drop is refused during a switch, and removes the snapshot of the index with its graph', async () => {
  const over = Promise.withResolvers<void>();
  const { data, next } = createProcesses(() => over.promise);
  const second = next();
  const snapshot = snapshotFile(graphFile(data, 1));
  for (const file of [snapshot, `${snapshot}.part`]) writeFileSync(file, '');
  const switched = second.takeOver(1);
  await expect(second.drop()).rejects.toThrow(
    'a switch to generation 1 is in progress: run varve drop again',
  );
  over.resolve();
  await switched;
  expect(await second.drop()).toEqual([1]);
  const files = [graphFile(data, 1), snapshot, `${snapshot}.part`];
  expect(files.filter((file) => existsSync(file))).toEqual([]);
});

it('a rollback that is asked for again with the same id switches once', async () => {
  const { data, next } = createProcesses(async (number) => generations.store.setLive(number));
  const generations = next();
  const rollBack = async (form: { readonly id?: string }) => {
    const context = { data, generations } as OperatorContext;
    for await (const { number } of rollbackOperation.run(context, form, NEVER)) return number;
  };
  const [one, other] = [randomUUID(), randomUUID()];
  expect(await rollBack({ id: one })).toBe(1);
  expect(await rollBack({ id: one })).toBe(1);
  expect(await rollBack({ id: other })).toBe(2);
  expect(await rollBack({})).toBe(1);
});
