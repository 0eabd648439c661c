import { expect, it, onTestFinished, vi } from 'vitest';
import { reportTrouble } from '../../../services/stores/report-trouble.ts';
import type { Trouble } from '../../../shared/event-store/event-store.ts';

/** Time after which the same message is repeated. */
const AGAIN_AFTER_MS = 10_000;

it('reports each message at once, and again when it lasts for ten seconds', () => {
  const clock = { at: 0 };
  vi.spyOn(performance, 'now').mockImplementation(() => clock.at);
  onTestFinished(() => void vi.restoreAllMocks());
  const said: string[] = [];
  const report = reportTrouble(({ error }) => said.push(`${error.message} at ${clock.at}`));
  const trouble = (message: string): Trouble => ({
    ...{ operation: 'append', attempt: 1, retryInMs: 1 },
    error: new Error(message),
  });
  for (const at of [0, 1, AGAIN_AFTER_MS - 1, AGAIN_AFTER_MS, AGAIN_AFTER_MS + 1]) {
    clock.at = at;
    report(trouble('no answer'));
    if (at === 1) report(trouble('no leader'));
  }
  expect(said).toEqual(['no answer at 0', 'no leader at 1', `no answer at ${AGAIN_AFTER_MS}`]);
});
