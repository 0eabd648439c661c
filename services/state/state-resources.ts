import * as z from 'zod';
import type { EventStore } from '../../shared/event-store/event-store.ts';
import { formProblems } from '../../shared/form-problems.ts';
import { RequestError } from '../../shared/request-error.ts';
import type { Resource, ResourceRequest } from '../../shared/resource.ts';
import type { SchemaRegistry } from '../../shared/schema/schema-registry.ts';
import { type Activity, SAMPLE_SECONDS } from '../operating/activity.ts';
import { listEvents } from './recent-events.ts';
import type { State } from './state.ts';

/** State of a process and of its log. */
export type ShownState = {
  readonly state: () => Promise<State>;
  readonly log: Pick<EventStore, 'readAll' | 'lastPosition'>;
  /** Absent: the process has no metrics. */
  readonly activity: Activity | undefined;
};

type Parts = { readonly shows: ShownState; readonly registry: SchemaRegistry };

const POSITION = z
  .string()
  .regex(/^\d{1,18}$/, 'must be a position of the log, which is an integer')
  .transform(BigInt);
const LIMIT = z
  .string()
  .regex(/^([1-9]\d?|[1-4]\d\d|500)$/, 'must be an integer from 1 to 500')
  .transform(Number);
const EVENTS = z.object({
  limit: LIMIT.default(50).describe('Events of the answer, 1 to 500.'),
  before: POSITION.optional().describe('Only earlier ones than this position.'),
  after: POSITION.optional().describe('Only later ones than this position.'),
  type: z.string().optional().describe('Only events of this type, such as `entry-published`.'),
  document: z.string().optional().describe('Only events of the entry with this documentId.'),
});
const ACTIVITY = z.object({
  after: z
    .string()
    .regex(/^\d{1,15}$/, 'must be milliseconds since 1970')
    .transform(Number)
    .default(0)
    .describe('Only later samples than this time, in milliseconds since 1970.'),
});

/** The state of the processes of the log, the figures of the last hour, and the newest events. */
export const STATE_RESOURCES: readonly Resource<Parts>[] = [
  {
    name: 'getState',
    summary: 'Show whether all is right, and the processes of the log',
    method: 'GET',
    path: '/_varve/state',
    run: async ({ shows }) => ({ data: await shows.state() }),
  },
  {
    name: 'getActivity',
    summary: 'Show the figures of the last hour',
    method: 'GET',
    path: '/_varve/activity',
    query: ACTIVITY,
    run({ shows: { activity } }, request) {
      const { after } = queryOf(ACTIVITY, request);
      return { data: activity?.samples(after) ?? [], meta: { everySeconds: SAMPLE_SECONDS } };
    },
  },
  {
    name: 'listEvents',
    summary: 'List the newest events of the log, without values',
    method: 'GET',
    path: '/_varve/events',
    query: EVENTS,
    async run({ shows: { log }, registry }, request) {
      const { after = 0n, ...asked } = queryOf(EVENTS, request);
      const { events, searchedTo } = await listEvents(log, registry, { ...asked, after });
      return { data: events, meta: { before: searchedTo === null ? null : String(searchedTo) } };
    },
  },
];

/** Returns the parameters of a query. Throws RequestError (400) with the first problem. */
function queryOf<Query extends z.ZodObject>(form: Query, { query }: ResourceRequest): z.output<Query> {
  const parsed = form.safeParse(Object.fromEntries(query));
  if (parsed.success) return parsed.data;
  const [problem] = formProblems(parsed.error);
  const { path = '', message = '' } = problem ?? {};
  throw new RequestError('invalid-query', `'${path}' ${message}`, {
    source: 'query',
    param: path,
    found: query.get(path),
  });
}
