import { expect, it, onTestFinished } from 'vitest';
import { openGenerationStore } from '../../../projections/generations/generation-store.ts';
import { dropOperation } from '../../../services/operator/generations.ts';
import type { OperatorContext } from '../../../services/operator/operation.ts';
import { tidyGenerations } from '../../../services/process/tidy-generations.ts';
import { embeddedReadSide } from '../../../services/read-side/embedded-read-side.ts';
import { LeaderElsewhere } from '../../../services/read-side/outside-generation.ts';
import type { OutsideIndices } from '../../../services/read-side/outside-indices.ts';
import { dataForTest } from '../../support/data-for-test.ts';

/** Runs `varve drop` in a process of an epoch, whose cluster has one index that another directory keeps. */
async function drop(epoch: number | undefined): Promise<readonly unknown[]> {
  const data = dataForTest();
  const store = openGenerationStore(data);
  onTestFinished(store.close);
  const sweep: OutsideIndices['sweep'] = async () => ({
    removed: ['v-tag-draft-1'],
    existing: new Set<string>(),
  });
  const rebuilds = tidyGenerations({
    data,
    plan: { ...embeddedReadSide({}), outside: { sweep } as OutsideIndices },
    generations: {
      store,
      entered: new Promise(() => {}),
      removeOlder: async () => [],
      abandon: async () => {},
      isSwitching: () => false,
    },
    fleet: { epoch: () => epoch, changed: async () => {}, leader: () => ({ kind: 'nobody' }) },
    removed() {},
    failed: (error) => expect.unreachable(String(error)),
  });
  onTestFinished(rebuilds.stop);
  const context = { rebuilds, generations: { drop: async () => [2] } } as unknown as OperatorContext;
  return Array.fromAsync(dropOperation.run(context, {}, new AbortController().signal));
}

it('the leader drops its own generations, and the indices that others keep', async () => {
  expect(await drop(1)).toEqual([{ number: 2 }, { index: 'v-tag-draft-1' }]);
});

it('a process that has lost the lease does not report a drop as complete', async () => {
  await expect(drop(undefined)).rejects.toThrow(LeaderElsewhere);
});
