import { expect, it, onTestFinished, vi } from 'vitest';
import { createMetricsOfWorkers } from '../../../services/supervisor/metrics-of-workers.ts';
import { createMemoryWorker } from '../../support/memory-worker.ts';

/** A scrape waits for a worker for so long. */
const ANSWER_MS = 1_500;

it('a scrape omits a worker that does not answer in time', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const [quick, silent] = [createMemoryWorker(), createMemoryWorker()];
  const metrics = createMetricsOfWorkers(() => [quick, silent]);
  let found: readonly (readonly object[])[] | undefined;
  const collecting = metrics.collect().then((all) => {
    found = all;
  });
  metrics.heard(1, [{ name: 'of the quick one' }]);
  await vi.advanceTimersByTimeAsync(ANSWER_MS - 1);
  expect(found).toBeUndefined();
  await vi.advanceTimersByTimeAsync(1);
  await collecting;
  expect(found).toEqual([[{ name: 'of the quick one' }]]);
  // Its answer comes too late.
  metrics.heard(2, [{}]);
});
