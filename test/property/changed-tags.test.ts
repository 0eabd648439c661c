import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createTagsModel, NAMES, type Step } from '../support/tags-model.ts';
import { count } from '../support/takes-minutes.ts';

const RUNS = Number(process.env['TAG_RUNS'] ?? count(3_000, 300));

const name = fc.constantFrom(...NAMES);
const who = fc.nat({ max: 2 });
const of = <Kind extends Step['kind']>(...kinds: readonly Kind[]) => ({ kind: fc.constantFrom(...kinds) });

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ ...of('edit'), names: fc.subarray([...NAMES], { maxLength: 2 }) }) },
  { weight: 12, arbitrary: fc.record({ ...of('apply', 'send', 'announce'), who }) },
  { weight: 8, arbitrary: fc.record({ ...of('answer'), name }) },
  { weight: 8, arbitrary: fc.record(of('look', 'read progress')) },
  { weight: 3, arbitrary: fc.record({ ...of('pause', 'continue', 'stop'), who }) },
  {
    weight: 1,
    arbitrary: fc.record({
      ...of('take over'),
      notes: fc.integer({ max: 4 }).map((n) => n !== 0),
      rebuilds: fc.integer({ min: 0, max: 3 }).map((n) => n === 0),
    }),
  },
  { weight: 2, arbitrary: fc.record(of('hear claim')) },
  { weight: 1, arbitrary: fc.record({ ...of('fail'), when: fc.constantFrom('before', 'after') }) },
  { weight: 1, arbitrary: fc.record({ ...of('refuse', 'accept'), name }) },
  { weight: 1, arbitrary: fc.record(of('delete', 'snapshot', 'restore')) },
) as fc.Arbitrary<Step>;

const BEGIN: readonly Step[] = [
  { kind: 'take over', notes: true, rebuilds: false },
  { kind: 'hear claim' },
  { kind: 'send', who: 0 },
  { kind: 'announce', who: 0 },
  { kind: 'read progress' },
  { kind: 'look' },
];

it(
  `no answer that has changed counts as unchanged, over ${RUNS} random histories`,
  async () => {
    let unchanged = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 80 }), async (steps) => {
        const model = createTagsModel();
        try {
          for (const one of [...BEGIN, ...steps]) unchanged += await model.take(one);
        } finally {
          model.end();
        }
      }),
      { numRuns: RUNS },
    );
    console.log(`${unchanged} answers were unchanged`);
    expect(unchanged).toBeGreaterThan(RUNS / 2);
  },
  60_000 + RUNS * 20,
);
