import { z } from 'zod';
import type { Generation, Rebuild } from '../../projections/generations/generation.ts';
import { appliedUpTo } from '../../projections/graph/projector.ts';
import type { StoredEvent, Unreadable } from '../../shared/event-store/event-store.ts';
import { rawEvents } from '../../shared/event-store/raw-events.ts';
import { stopsReaders } from '../../shared/event-store/unreadable.ts';
import type { ReadIndex } from '../../shared/read-index/read-index.ts';
import type { SchemaWarning } from '../../shared/schema/schema-problem.ts';
import { valueWithin } from '../../shared/value-within.ts';
import type { FollowStatus } from '../follow/follow-state.ts';
import { measureLag } from '../operating/projection-lag.ts';
import { countShownRows } from '../operating/shown-rows.ts';
import { documentsOf } from '../read-side/read-side.ts';
import type { State } from '../state/state.ts';
import { stateWithoutServer } from '../state/state-without-server.ts';
import { defineLook, type LookContext, type WorkerStatus } from './operation.ts';

/** State of a projection of the log. */
export type ProjectionStatus = {
  readonly name: 'content graph' | 'read index';
  readonly kind: 'sqlite' | 'embedded' | 'elasticsearch';
  readonly generation: number;
  /** Position of the last event that it shows. */
  readonly position: string;
  /** Events in the log that it does not show, counted up to 5,000, and the age of the first of them. */
  readonly lagEvents: number;
  readonly lagSeconds: number;
  /** null: the engine does not answer. */
  readonly documents: number | null;
  /** Size of its files; null: it is in the memory of the process, or in Elasticsearch. */
  readonly bytes: number | null;
  /** Number of stale documents, and the age of the oldest; 0 for an index that is always current. */
  readonly backlog: number;
  readonly backlogSeconds: number;
  /** Documents that the engine refused. */
  readonly parked: number;
};

/** An event that cannot be read. */
export type UnreadableStatus = {
  readonly position: string;
  readonly stream: string;
  readonly type: string;
  readonly kind: Unreadable['kind'];
  readonly reason: string;
};

export type Status = State & {
  readonly space: string;
  /** Server of the data directory; null: there is none. */
  readonly server: {
    readonly pid: number;
    readonly memoryBytes: number;
    readonly uptimeSeconds: number;
  } | null;
  /** Workers of the server, the leader first; empty: it has one worker, or there is none. */
  readonly workers: readonly WorkerStatus[];
  readonly log: {
    readonly position: string;
    /** Last event of the log's file, in any namespace, and its link in the hash chain: proof of the whole history. null: no chain. */
    readonly head: { readonly position: string; readonly chain: string } | null;
    /** First event that the server cannot read: it applies the log up to there, and accepts no writes. null: there is none. */
    readonly unreadable: UnreadableStatus | null;
    /** Events of other programs that were skipped: see varve parked. */
    readonly foreignEvents: number;
  };
  readonly projections: readonly ProjectionStatus[];
  /** Generations of the read model: the live one, and those that are kept or being built. */
  readonly generations: readonly Generation[];
  /** The last rebuild; null: there was none. */
  readonly rebuild: Rebuild | null;
  /** Parts of the schema files that the server does not serve as they are. */
  readonly schemaWarnings: readonly SchemaWarning[];
  /** Code of the project that the server does not run, one line for each kind. */
  readonly codeNotes: readonly string[];
  /** The reason why the file of the live graph cannot be used as it is; null: it can. The next start replaces or upgrades it. */
  readonly unusable: string | null;
  /** The Strapi that the server follows; null: none. */
  readonly follow: FollowStatus | null;
};

/** Answers with one line: the status. Changes nothing, and opens no index. */
export const statusOperation = defineLook({
  form: z.strictObject({}),
  http: { summary: 'Show the state of the log and of the read model', answer: 'one' },
  async *run(context) {
    yield await readStatus(context);
  },
});

/** Reads the status. Outside of a server it has no index among its projections, and `server` is null. */
export async function readStatus(context: LookContext): Promise<Status> {
  const { log, graph, space, server } = context;
  // The log is read first: otherwise an event appended in between would make a projection seem ahead of the log.
  const position = await log.lastPosition();
  const [index, state] = await Promise.all([
    server ? statusOfIndex(context) : undefined,
    context.state?.() ?? stateWithoutServer(context),
  ]);
  return {
    ...state,
    space,
    server: server
      ? {
          pid: server.pid,
          memoryBytes: process.memoryUsage.rss(),
          uptimeSeconds: Math.round(process.uptime()),
        }
      : null,
    workers: await workersOf(context),
    log: {
      position: String(position),
      head: await headOf(context),
      unreadable: describe(server ? context.unreadable?.() : await firstUnreadable(context)),
      foreignEvents: graph.foreignEvents().count,
    },
    projections: [await statusOfGraph(context), ...(index === undefined ? [] : [index])],
    generations: context.generations.store.generations(),
    rebuild: context.generations.store.rebuild() ?? null,
    schemaWarnings: context.schemaWarnings,
    codeNotes: context.codeNotes,
    unusable: context.unusable ?? null,
    follow: context.follow?.() ?? null,
  };
}

async function workersOf({ workers, graph }: LookContext): Promise<readonly WorkerStatus[]> {
  if (workers === undefined) return [];
  const leading = { pid: process.pid, role: 'leading', position: String(graph.position()) } as const;
  const others = await workers.readers();
  return [leading, ...others.map(({ pid, position }) => ({ pid, role: 'reading', position }) as const)];
}

/** Returns the first unreadable event within the part of the lag that is counted. */
async function firstUnreadable({ log, graph }: LookContext): Promise<StoredEvent | undefined> {
  let seen = 0;
  for await (const event of rawEvents(log, graph.position())) {
    if (stopsReaders(event)) return event;
    if (++seen >= LOOKED_AHEAD) break;
  }
  return undefined;
}

function describe(event: StoredEvent | undefined): UnreadableStatus | null {
  if (event?.unreadable === undefined) return null;
  const { position, stream, type, unreadable } = event;
  return { position: String(position), stream, type, kind: unreadable.kind, reason: unreadable.reason };
}

const LOOKED_AHEAD = 5_000;

const NO_BACKLOG = { backlog: 0, backlogSeconds: 0, parked: 0 } as const;

async function statusOfGraph(context: LookContext): Promise<ProjectionStatus> {
  const { graph } = context;
  return {
    name: 'content graph',
    kind: 'sqlite',
    generation: generationOf(context),
    position: String(graph.position()),
    ...(await lagOf(context, graph.position())),
    documents: graph.size().rows,
    bytes: graph.size().bytes,
    ...NO_BACKLOG,
  };
}

async function statusOfIndex(context: LookContext): Promise<ProjectionStatus> {
  const readSide = await context.readSide();
  const { index } = readSide;
  const documents = documentsOf(readSide)?.status();
  return {
    name: 'read index',
    kind: documents === undefined ? 'embedded' : 'elasticsearch',
    generation: generationOf(context),
    position: String(index.position()),
    ...(await lagOf(context, index.position())),
    documents: await countInTime(context, index),
    bytes: null,
    ...(documents === undefined
      ? NO_BACKLOG
      : {
          backlog: documents.backlog,
          backlogSeconds: documents.oldestSeconds,
          parked: documents.refused,
        }),
  };
}

async function headOf({ log }: LookContext): Promise<Status['log']['head']> {
  const head = await log.chain?.head();
  return head === undefined ? null : { position: String(head.position), chain: head.chain };
}

function generationOf({ generations }: LookContext): number {
  return generations.store.live().number;
}

async function lagOf({ log, graph }: LookContext, shown: bigint) {
  const { events, seconds } = await measureLag(log, appliedUpTo(graph, shown), Date.now);
  return { lagEvents: events, lagSeconds: seconds };
}

/** An index in Elasticsearch may not answer. */
const COUNTED_WITHIN_MS = 2_000;

/** Returns the number of documents; null if it cannot be known now. */
async function countInTime(context: LookContext, index: ReadIndex): Promise<number | null> {
  const count = await valueWithin(COUNTED_WITHIN_MS, countDocuments(context, index)).catch(() => null);
  return count ?? null;
}

async function countDocuments({ graph }: LookContext, index: ReadIndex): Promise<number> {
  const rows = await countShownRows(index, graph.registry());
  return rows.reduce((sum, { value }) => sum + value, 0);
}
