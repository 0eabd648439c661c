import { expect, it, onTestFinished, vi } from 'vitest';
import { createConditions, type FoundCondition } from '../../../services/operating/conditions.ts';
import { METRICS } from '../../../services/operating/metric-definitions.ts';
import { createMetrics } from '../../../services/operating/metrics.ts';
import { createReadinessCheck } from '../../../services/operating/readiness.ts';

function open() {
  const lines: string[] = [];
  const conditions = createConditions({
    began: ({ code }) => lines.push(`began ${code}`),
    ended: ({ code }) => lines.push(`ended ${code}`),
  });
  onTestFinished(() => conditions.close());
  return { conditions, lines };
}

const FULL: FoundCondition = { code: 'disk-full', message: 'the disk is full' };

it('reports each condition once when it begins and once when it is over, and keeps its time', async () => {
  const { conditions, lines } = open();
  let found: FoundCondition | undefined;
  conditions.watch(() => found);
  expect(await conditions.look()).toEqual([]);
  found = FULL;
  await vi.waitFor(async () => expect(await conditions.look()).toHaveLength(1), 20_000);
  const [first] = await conditions.look();
  expect(first).toMatchObject({ code: 'disk-full', severity: 'outage', writers: 'Writes answer 503.' });
  found = { ...FULL, message: 'the disk is still full' };
  await vi.waitFor(async () => expect((await conditions.look())[0]?.message).toMatch(/still/), 20_000);
  expect((await conditions.look())[0]?.since).toBe(first?.since);
  found = undefined;
  await vi.waitFor(async () => expect(await conditions.look()).toEqual([]), 20_000);
  expect(lines).toEqual(['began disk-full', 'ended disk-full']);
});

it('lists the most serious condition first', async () => {
  const { conditions } = open();
  conditions.watch(() => ({ code: 'documents-parked', message: '1 document is parked' }));
  conditions.watch(async () => FULL);
  expect((await conditions.look()).map(({ code }) => code)).toEqual(['disk-full', 'documents-parked']);
});

it('keeps what a check found before if the check fails', async () => {
  const { conditions } = open();
  let fails = false;
  conditions.watch(() => {
    if (fails) throw new Error('gone');
    return FULL;
  });
  await conditions.look();
  fails = true;
  await new Promise((resolve) => setTimeout(resolve, 600));
  expect(await conditions.look()).toMatchObject([{ code: 'disk-full' }]);
});

it('makes a process unready with its reason, and adds a note to one that stays ready', async () => {
  const { conditions } = open();
  const readiness = createReadinessCheck(30, conditions);
  readiness.serving(async () => 0);
  const stop = conditions.watch(() => FULL);
  expect(await readiness.check()).toMatchObject({
    status: 'ready',
    note: expect.stringMatching(/^the disk is full, since \S+Z\. Writes answer 503\.$/),
  });
  stop();
  conditions.watch(() => ({ code: 'no-leader', message: 'there is no leader', isUnready: true }));
  expect(await readiness.check()).toMatchObject({
    status: 'unavailable',
    reason: 'no-leader',
    message: expect.stringMatching(/^there is no leader, since \S+Z\.$/),
  });
});

it('collects all other metrics while one fails, and while one does not answer', async () => {
  const metrics = createMetrics();
  metrics.samples(METRICS.indexRows, () => Promise.reject(new Error('Elasticsearch is away')));
  metrics.gauge(METRICS.logPosition, () => new Promise(() => {}));
  metrics.total(METRICS.writtenDocuments, () => {
    throw new Error('no writer');
  });
  metrics.gauge(METRICS.ready, () => 1);
  const text = await metrics.text();
  expect(text).toContain('varve_ready 1');
  expect(text).not.toMatch(/^varve_index_rows[ {]/m);
  expect(text).not.toMatch(/^varve_log_position /m);
});
