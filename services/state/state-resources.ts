import * as z from 'zod';
import type { JournalRow } from '../../projections/journal/journal.ts';
import type { EventStore } from '../../shared/event-store/event-store.ts';
import { formProblems } from '../../shared/form-problems.ts';
import { RequestError } from '../../shared/request-error.ts';
import type { Resource, ResourceRequest } from '../../shared/resource.ts';
import type { SchemaRegistry } from '../../shared/schema/schema-registry.ts';
import { type Activity, SAMPLE_SECONDS } from '../operating/activity.ts';
import type { SlowQuery } from '../operating/slow-queries.ts';
import { listEvents, readEvent, subscribeToEvents } from './recent-events.ts';
import type { SettingsInForce } from './settings-in-force.ts';
import type { State } from './state.ts';
import { presentWhole } from './whole-event.ts';

/** Slow queries of a process and its workers. */
export type ShownSlowQueries = {
  /** Milliseconds; 0: none are kept. */
  readonly thresholdMs: number;
  /** Returns at most 100, the newest first. */
  readonly newest: () => Promise<readonly SlowQuery[]>;
};

/** State of a process and of its log. */
export type ShownState = {
  readonly state: () => Promise<State>;
  readonly log: Pick<EventStore, 'readAll' | 'lastPosition' | 'subscribe'>;
  /** Returns what the event at a position did to rows. Absent: the process has no content graph. */
  readonly rowsOf?: ((position: bigint) => readonly JournalRow[]) | undefined;
  /** Absent: the process has no metrics. */
  readonly activity: Activity | undefined;
  /** Absent: another process answers. */
  readonly slowQueries: ShownSlowQueries | undefined;
  /** The settings in force. Absent: another process answers. */
  readonly settings: (() => SettingsInForce) | undefined;
};

type Parts = {
  readonly shows: ShownState;
  readonly registry: SchemaRegistry;
  /** Streams of server-sent events. */
  readonly streams: { count(): number };
};

const POSITION = z
  .string()
  .regex(/^\d{1,18}$/, 'must be a position of the log, which is an integer')
  .transform(BigInt);
const TIME = z.iso
  .datetime({ offset: true, error: 'must be an instant such as 2026-11-29T10:00:00Z' })
  .transform(Date.parse);
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
  actor: z
    .string()
    .optional()
    .describe('Only by this token (id or name), process (id) or kind of author, such as `import`.'),
  since: TIME.optional().describe('Only from this instant on.'),
  until: TIME.optional().describe('Only up to this instant.'),
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
    name: 'listSlowQueries',
    summary: 'List the newest reads that took longer than the threshold, with the times of their stages',
    method: 'GET',
    path: '/_varve/slow-queries',
    run: async ({ shows: { slowQueries } }) => ({
      data: (await slowQueries?.newest()) ?? [],
      meta: { thresholdMs: slowQueries?.thresholdMs ?? 0 },
    }),
  },
  {
    name: 'countStreams',
    summary: 'Count the open streams of server-sent events of this process',
    method: 'GET',
    path: '/_varve/streams',
    run: ({ streams }) => ({ data: { open: streams.count() } }),
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
    async *subscribe({ shows: { log }, registry }, request, signal) {
      const { after = await log.lastPosition(), limit: _, before: __, ...asked } = queryOf(EVENTS, request);
      yield* subscribeToEvents(log, registry, { ...asked, after }, signal);
    },
  },
  {
    name: 'getEvent',
    summary: 'Show an event of the log with its data, without private values, and what it did to rows',
    method: 'GET',
    path: '/_varve/events/:position',
    async run({ shows: { log, rowsOf }, registry }, { parameter }) {
      const asked = POSITION.safeParse(parameter('position'));
      const event = asked.success ? await readEvent(log, asked.data) : undefined;
      if (event === undefined) throw new RequestError('not-found', 'The log has no event at this position');
      return { data: presentWhole(event, registry, rowsOf?.(event.position)) };
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
