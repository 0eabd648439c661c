import { type BoolQuery, MATCH_ALL } from '../../shared/read-index/bool-query.ts';
import { type ParsedFilter, parseFilter } from './parse-filter.ts';
import { sortByPass } from './problems.ts';
import type { QueryModel } from './query-model.ts';
import type { QueryValue } from './query-string.ts';
import { type FilterContext, resolveFilter } from './resolve-filter.ts';
import { translateFilter } from './translate-filter.ts';

/** An entry of `$and` or `$or`. */
const LIST_ENTRY = /\[\d+\]$/;

/**
 * `filters` (or an option of `populate`) → the condition on rows. Adds problems to `context.problems` in the order in which
 * Strapi finds them. `at` is the key in the query string.
 */
export function planFilter(
  value: QueryValue | undefined,
  at: string,
  model: QueryModel,
  context: FilterContext,
): BoolQuery {
  const parsed = parseFilter(value, at);
  if (parsed === null) return MATCH_ALL;
  const { problems, param } = context;
  if (parsed.kind === 'malformed') {
    const { message, found, accepted } = parsed;
    problems.push({ phase: 'value', message, param, at, found, accepted });
    return MATCH_ALL;
  }
  const first = problems.length;
  const query = translateFilter(resolveFilter(parsed, model, context));
  if (problems.length - first > 1) {
    const steps = new Map<string, number>();
    countSteps(parsed, 0, steps);
    sortByPass(problems, first, (problem) => steps.get(problem.at ?? '') ?? 0);
  }
  return query;
}

/** Stores by key how many names Strapi reads before each part of a filter. Returns how many it has read after the filter. */
function countSteps(filter: ParsedFilter, before: number, steps: Map<string, number>): number {
  steps.set(filter.at, before);
  switch (filter.kind) {
    case 'attribute':
      return countInTurn(filter.body, before + 1, steps);
    case 'not':
      return countSteps(filter.member, before + 1, steps);
    case 'and':
    case 'or': {
      const { members } = filter;
      if (!members.every(({ at }) => LIST_ENTRY.test(at))) return countInTurn(members, before, steps);
      // Strapi reads the members of a list in parallel.
      return Math.max(before, ...members.map((member) => countSteps(member, before + 1, steps)));
    }
    case 'comparison':
    case 'malformed':
      return before + 1;
  }
}

function countInTurn(members: readonly ParsedFilter[], before: number, steps: Map<string, number>): number {
  return members.reduce((count, member) => countSteps(member, count, steps), before);
}
