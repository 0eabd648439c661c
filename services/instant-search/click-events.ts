import * as z from 'zod';
import { formProblems } from '../../shared/form-problems.ts';
import type { SearchRequest } from '../../shared/read-index/read-index.ts';
import { RequestError } from '../../shared/request-error.ts';

/** Counts of the clicks on hits. */
export type ClickCounting = {
  /** Returns the id under which clicks on the hits of a search are counted; undefined: the search is not counted. */
  readonly idOf: (request: SearchRequest) => string | undefined;
  /** Counts clicks on hits at these positions, from 1. Ignores an id that no search has. */
  readonly clicked: (id: string, positions: readonly number[]) => void;
};

/** Limits of Algolia's clients and service. */
const MOST_EVENTS = 1_000;
const MOST_OBJECTS = 20;
const LONGEST_ID = 100;
/** Positions of hits that can be reached. */
const LAST_POSITION = 1_000_000;

/** Members that say nothing about a click, such as the user, are not read. */
const EVENTS = z.object({
  events: z
    .array(
      z.object({
        eventType: z.enum(['click', 'conversion', 'view']),
        queryID: z.string().max(LONGEST_ID).optional(),
        positions: z.array(z.int().min(1).max(LAST_POSITION)).max(MOST_OBJECTS).optional(),
      }),
    )
    .max(MOST_EVENTS),
});

type Click = { readonly queryID: string; readonly positions: readonly number[] };

/** Reads the clicks on hits of searches among the events of a body. Other events are not counted. Throws RequestError. */
export function readClicks(body: unknown): readonly Click[] {
  const parsed = EVENTS.safeParse(body);
  if (!parsed.success) {
    const [problem] = formProblems(parsed.error);
    throw new RequestError('invalid-query', `${problem?.path || 'the body'} ${problem?.message}`, {
      accepted: `{"events": […]} with at most ${MOST_EVENTS} events`,
    });
  }
  return parsed.data.events.flatMap(({ eventType, queryID, positions }) =>
    eventType === 'click' && queryID !== undefined && positions !== undefined ? [{ queryID, positions }] : [],
  );
}
