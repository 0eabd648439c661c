import * as z from 'zod';
import { refusedData } from '../../shared/refused-form.ts';
import { RequestError } from '../../shared/request-error.ts';
import type { Resource, ResourceRequest } from '../../shared/resource.ts';
import { listSearches, SEARCH_ORDERS } from './list-searches.ts';
import { dateOf, dayOf, type SearchLog } from './open-search-log.ts';

/** Counts for requests. `searches` absent: nothing is counted. */
export type ServedSearches = {
  readonly searches: Pick<SearchLog, 'store' | 'write' | 'clear' | 'days'> | undefined;
};

/** Days that a setting, and a question, may name. */
export const MOST_DAYS = 366;

const QUESTION = z.object({
  days: z.coerce.number().int().min(1).max(MOST_DAYS).default(7).describe('Days until today, in UTC.'),
  type: z.string().max(200).optional().describe('Uid of a content type. Absent: all types.'),
  order: z.enum(SEARCH_ORDERS).default('count').describe('What the list is ordered by, the most first.'),
});

const LISTED = z.object({
  type: z.string(),
  locale: z.string().describe('`*`: a search in several locales.'),
  query: z.string().describe('The words, without case and accents, at most 100 characters.'),
  count: z.int().describe('Searches that were answered.'),
  none: z.int().describe('Searches that found nothing.'),
  corrected: z.int().describe('Searches in which a word was corrected.'),
  correction: z.string().nullable().describe('An example of a correction.'),
  clicks: z.int(),
  position: z.number().nullable().describe('Mean place of the clicked hits, from 1.'),
});

const PATH = '/_varve/searches';

/** Counts of searches. Each server of a log counts the searches that it answers, and its workers count together. */
export const SEARCH_LOG_RESOURCES: readonly Resource<ServedSearches>[] = [
  {
    name: 'listSearches',
    summary: 'List what people look for on this server: the first 100 queries of an order, with their counts',
    method: 'GET',
    path: PATH,
    query: QUESTION,
    result: z.array(LISTED),
    async run(parts, request) {
      const { days, type, order } = questionOf(request);
      if (parts.searches === undefined) return { data: [], meta: { keptDays: 0 } };
      const { store, write, days: kept } = parts.searches;
      const today = dayOf(Date.now());
      const since = today - Math.min(days, kept) + 1;
      await write();
      const { listed, sums } = await listSearches(store, { since, type, order });
      return {
        data: listed,
        meta: {
          keptDays: kept,
          from: dateOf(since),
          to: dateOf(today),
          ...sums,
          countedBy: 'this server',
        },
      };
    },
  },
  {
    name: 'clearSearches',
    summary: 'Remove the counts of all searches of this server',
    method: 'DELETE',
    path: PATH,
    result: z.object({ removed: z.int().describe('Rows: one for the words of a day.') }),
    async run({ searches }) {
      if (searches === undefined)
        throw new RequestError(
          'not-supported',
          'This process does not count searches: start varve serve with --search-log-days',
          { accepted: `--search-log-days 1 to ${MOST_DAYS}` },
        );
      return { data: { removed: await searches.clear() } };
    },
  },
];

function questionOf({ query }: ResourceRequest): z.infer<typeof QUESTION> {
  const parsed = QUESTION.strict().safeParse(Object.fromEntries(query));
  if (!parsed.success) throw refusedData(parsed.error, 'invalid-query');
  return parsed.data;
}
