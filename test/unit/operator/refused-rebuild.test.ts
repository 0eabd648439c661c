import { expect, it } from 'vitest';
import { rebuildOperation } from '../../../services/operator/generations.ts';
import type { OperatorContext } from '../../../services/operator/operation.ts';
import { LeaderElsewhere } from '../../../services/read-side/outside-generation.ts';

it('a process that is not the leader begins no rebuild', async () => {
  let builds = 0;
  const context = {
    generations: {
      refuseTakeOver() {
        throw new LeaderElsewhere();
      },
    },
    // biome-ignore lint/correctness/useYield: it makes nothing
    async *build() {
      builds++;
    },
  } as unknown as OperatorContext;
  const { signal } = new AbortController();
  const lines = Array.fromAsync(rebuildOperation.run(context, { graph: false, accept: false }, signal));
  await expect(lines).rejects.toThrow(LeaderElsewhere);
  expect(builds).toBe(0);
});
