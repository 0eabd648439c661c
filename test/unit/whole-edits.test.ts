import { beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { createWholeEdits } from '../../projections/index-writer/whole-edits.ts';
import { createCondition } from '../../shared/condition.ts';

const TAGS = { type: 'api::tag.tag', world: 'draft' } as const;

beforeEach(() => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
});

/** Creates edits in a writer whose copies of tags are being written. `order` has what has begun and was refreshed. */
function openEdits() {
  const order: string[] = [];
  const changed = createCondition();
  const copying = new Set<typeof TAGS>([{ ...TAGS }]);
  const whole = createWholeEdits(
    changed,
    () => copying,
    async () => void order.push('refreshed'),
  );
  const endCopies = () => {
    copying.clear();
    changed.check();
  };
  return { whole, order, endCopies };
}

it('begins when the copies of the target are written, or after two seconds', async () => {
  const { whole, order, endCopies } = openEdits();
  void whole.begin(TAGS).then(() => order.push('begun'));
  await vi.advanceTimersByTimeAsync(1_999);
  expect(order).toEqual([]);
  await vi.advanceTimersByTimeAsync(1);
  expect(order).toEqual(['begun']);
  void whole.begin(TAGS).then(() => order.push('begun again'));
  endCopies();
  await vi.advanceTimersByTimeAsync(0);
  expect(order).toEqual(['begun', 'begun again']);
});

it('refreshes the backlog when the edits have ended, or after twenty seconds', async () => {
  const { whole, order, endCopies } = openEdits();
  endCopies();
  await whole.begin(TAGS);
  void whole.refresh();
  await vi.advanceTimersByTimeAsync(19_999);
  expect(order).toEqual([]);
  await vi.advanceTimersByTimeAsync(1);
  expect(order).toEqual(['refreshed']);
  void whole.refresh();
  await vi.advanceTimersByTimeAsync(10);
  expect(order).toEqual(['refreshed']);
  whole.end(TAGS);
  await vi.advanceTimersByTimeAsync(0);
  expect(order).toEqual(['refreshed', 'refreshed']);
});
