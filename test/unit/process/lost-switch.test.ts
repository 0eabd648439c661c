import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { openContentGraph } from '../../../projections/graph/content-graph.ts';
import { graphFile } from '../../../projections/graph/store/generation-files.ts';
import { tidyGenerations } from '../../../services/process/tidy-generations.ts';
import { embeddedReadSide } from '../../../services/read-side/embedded-read-side.ts';
import { openServedGenerations } from '../../../services/read-side/open-generations.ts';
import { LeaderElsewhere, NOT_LEADING } from '../../../services/read-side/outside-generation.ts';
import type { OutsideIndices } from '../../../services/read-side/outside-indices.ts';
import { openSqliteEventStore } from '../../../shared/event-store/sqlite/sqlite-event-store.ts';
import { upcast } from '../../../shared/events/upcasters.ts';
import { dataForTest } from '../../support/data-for-test.ts';

it('a switch without a rebuild ends as soon as another process is the leader: the next worker could not serve it', async () => {
  const data = dataForTest();
  const log = openSqliteEventStore(join(data, 'events.db'), { space: 'varve', decode: upcast });
  onTestFinished(() => log.close());
  const handOver = Promise.withResolvers<void>();
  const reasons: string[] = [];
  const plan = { ...embeddedReadSide({}), outside: {} as OutsideIndices };
  openContentGraph(graphFile(data, 1)).close();
  const generations = openServedGenerations({
    ...{ data, log, plan },
    handOver: () => handOver.promise,
    async abandon(reason) {
      reasons.push(reason);
      handOver.reject(new Error(`generation 2 is not served: ${reason}`));
    },
  });
  onTestFinished(generations.close);
  const { store } = generations;
  const { id, generation } = store.begin({ graph: false }, '2026-11-30T00:00:00.000Z');
  store.enter(id, 'cancelled');
  store.noteIndices(generation, {});
  generations.enter();
  const switched = generations.takeOver(generation).catch((error: unknown) => error);
  const tidied = tidyGenerations({
    ...{ data, plan, generations },
    fleet: {
      epoch: () => undefined,
      leader: () => ({ kind: 'elsewhere', leader: { address: 'http://127.0.0.1:1', epoch: 2 } }) as never,
      changed: async () => tidied.stop(),
    },
    removed: () => {},
    failed: (error) => expect.fail(String(error)),
  });
  expect(await switched).toBeInstanceOf(LeaderElsewhere);
  expect(reasons).toEqual([NOT_LEADING]);
});
