import { setImmediate as turn } from 'node:timers/promises';
import * as z from 'zod';
import { answerTrial, type RuleTrial, type TrialOptions } from './preview-rules.ts';

/** Searches of one comparison, and entries that each expects. */
const MOST_TESTS = 200;
const MOST_EXPECTED = 20;
/** Hits of a search among which an expected entry is looked for: a page of a list has no more. */
const LAST_POSITION = 100;

const TEST = z.strictObject({
  search: z.string().min(1).max(512),
  locale: z.string().min(2).max(35).optional(),
  expected: z.array(z.string().min(1).max(100)).min(1).max(MOST_EXPECTED),
});

/** Searches with the entries that their first hits should have. */
export const TESTS = z.array(TEST).min(1).max(MOST_TESTS);

type Test = z.infer<typeof TEST>;

const POSITION = z
  .int()
  .nullable()
  .describe(`Position among the first ${LAST_POSITION} hits, from 1; null: not there.`);

export const COMPARED_TESTS = z.array(
  z.object({
    search: z.string(),
    locale: z.string().optional(),
    expected: z.array(z.object({ documentId: z.string(), before: POSITION, after: POSITION })),
  }),
);

type ComparedTest = z.infer<typeof COMPARED_TESTS>[number];

/** Numbers of expected entries of all tests: all, those whose position changes, and those that come earlier or later. */
type ComparedSums = {
  readonly expected: number;
  readonly moved: number;
  readonly better: number;
  readonly worse: number;
};

type Comparison = Pick<RuleTrial, 'type' | 'rules'> & { readonly tests: readonly Test[] };

/** Answers tests with the rules in force and with rules that are not stored. */
export type CompareRules = (
  comparison: Comparison,
) => Promise<{ readonly data: readonly ComparedTest[]; readonly meta: ComparedSums }>;

/** Creates comparisons for callers with full access, of published entries. */
export function createRuleComparison(options: TrialOptions): CompareRules {
  return async ({ type, rules, tests }) => {
    const inForce = options.additions().rules[type] ?? [];
    const data: ComparedTest[] = [];
    for (const { expected, ...test } of tests) {
      const before = await positionsOf(options, { type, locale: undefined, ...test, rules: inForce });
      const after = await positionsOf(options, { type, locale: undefined, ...test, rules });
      data.push({
        ...test,
        expected: expected.map((documentId) => ({
          documentId,
          before: before.get(documentId) ?? null,
          after: after.get(documentId) ?? null,
        })),
      });
      // Other requests are answered between two tests.
      await turn();
    }
    return { data, meta: sumsOf(data.flatMap((each) => each.expected)) };
  };
}

/** Returns the positions of the first hits, from 1, by documentId. */
async function positionsOf(options: TrialOptions, trial: RuleTrial): Promise<ReadonlyMap<string, number>> {
  const page = { 'pagination[pageSize]': String(LAST_POSITION), 'fields[0]': 'documentId' };
  const { data } = await answerTrial(options, trial, page);
  return new Map(data.map(({ documentId }, at) => [documentId, at + 1]));
}

function sumsOf(expected: ComparedTest['expected']): ComparedSums {
  // An entry that is not found comes after all others.
  const gains = expected.map(({ before, after }) => (before ?? Infinity) - (after ?? Infinity) || 0);
  const better = gains.filter((gain) => gain > 0).length;
  const worse = gains.filter((gain) => gain < 0).length;
  return { expected: expected.length, moved: better + worse, better, worse };
}
