import { expect, it } from 'vitest';
import { textOfWorkers } from '../../../services/operating/metrics.ts';
import { asMeasurement, createSlowQueries, slowQueriesIn } from '../../../services/operating/slow-queries.ts';

const times = { plan: 1.26, search: 900, populate: 0, render: 2 };

function reportOf(queryString: string) {
  return { requestId: undefined, type: 'api::tag.tag', queryString, times };
}

it('keeps the newest 100 queries, and the beginning of a long one', () => {
  let at = Date.parse('2031-06-01T06:00:00Z');
  const slow = createSlowQueries(() => at++);
  for (let n = 0; n <= 100; n++) slow.add(reportOf(`n=${n}&${'x'.repeat(3_000)}`));
  const found = slow.newest();
  expect(found).toHaveLength(100);
  expect(found[0]).toEqual({
    at: '2031-06-01T06:00:00.100Z',
    requestId: null,
    type: 'api::tag.tag',
    query: `n=100&${'x'.repeat(3_000)}`.slice(0, 2_000),
    planMs: 1.3,
    searchMs: 900,
    populateMs: 0,
    renderMs: 2,
  });
  expect(found.at(-1)?.query).toMatch(/^n=1&/);
});

it('joins the queries of several workers, which /metrics omits', async () => {
  let at = 0;
  const [one, other] = [createSlowQueries(() => at++), createSlowQueries(() => at++)];
  for (const [slow, name] of [
    [one, 'a'],
    [other, 'b'],
    [one, 'c'],
  ] as const)
    slow.add(reportOf(name));
  const workers = [one, other].map((slow) => [asMeasurement(slow.newest())]);
  expect(slowQueriesIn(workers.flat()).map(({ query }) => query)).toEqual(['c', 'b', 'a']);
  expect((await textOfWorkers(workers)).trim()).toBe('');
});
