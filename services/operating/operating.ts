import type { Logger } from 'pino';
import type { EventStore } from '../../shared/event-store/event-store.ts';
import type { ReadIndex } from '../../shared/read-index/read-index.ts';
import type { SchemaRegistry } from '../../shared/schema/schema-registry.ts';
import { CONDITIONS } from './condition-table.ts';
import {
  type ConditionReport,
  type Conditions,
  createConditions,
  type ProcessCondition,
} from './conditions.ts';
import { METRICS } from './metric-definitions.ts';
import { createMetrics, type Metrics, type Sample } from './metrics.ts';
import { createObserveQuery, type ObserveQuery } from './observe-query.ts';
import { createLagView } from './projection-lag.ts';
import { createReadinessCheck, type ReadinessCheck } from './readiness.ts';
import { countShownRows } from './shown-rows.ts';
import { createSlowQueries, type SlowQueries } from './slow-queries.ts';
import type { Tracing } from './tracing.ts';

/** Measurements and health of a process. They are created before there is anything to measure. */
export type Operating = {
  /** undefined: nothing is measured. */
  readonly metrics: Metrics | undefined;
  readonly tracing: Tracing | undefined;
  readonly readiness: ReadinessCheck;
  /** Conditions of the process and its surroundings. */
  readonly conditions: Conditions;
  readonly observeQuery: ObserveQuery;
  readonly slowQueries: Pick<SlowQueries, 'newest'>;
  /** Version of the program. */
  readonly version: string;
  readonly role: ServingRole;
};

/** Role of a process: see the roles of commands. */
export type ServingRole = 'serve' | 'project' | 'api';

export type OperatingOptions = {
  readonly metrics: boolean;
  readonly tracing: Tracing | undefined;
  readonly logger: Pick<Logger, 'warn' | 'info'>;
  /** 0 = no slow-query log. */
  readonly slowQueryMs: number;
  /** The process is ready while the index lags at most this much. */
  readonly readyLagSeconds: number;
  readonly version: string;
  /** Processes that crashed before this one. */
  readonly restarts: number;
  readonly role: ServingRole;
};

/** Creates the measurements of a process, with the gauges that need no content: version, restarts, readiness. */
export function createOperating(options: OperatingOptions): Operating {
  const { tracing, logger, version } = options;
  const metrics = options.metrics ? createMetrics() : undefined;
  const conditions = createConditions(logConditions(logger));
  const readiness = createReadinessCheck(options.readyLagSeconds, conditions);
  const slowQueries = createSlowQueries();
  const slowCount = metrics?.counter(METRICS.slowQueries);
  metrics?.samples(METRICS.build, () => [{ labels: { version, node: process.version }, value: 1 }]);
  metrics?.gauge(METRICS.workerRestarts, () => options.restarts);
  metrics?.samples(METRICS.conditions, async () => samplesOf(await conditions.look()));
  metrics?.gauge(METRICS.ready, async () => ((await readiness.check()).status === 'ready' ? 1 : 0));
  return {
    metrics,
    tracing,
    readiness,
    conditions,
    version,
    role: options.role,
    slowQueries,
    observeQuery: createObserveQuery({
      phases: metrics?.durations(METRICS.queryPhases),
      tracing,
      slowMs: options.slowQueryMs,
      slow(report) {
        slowCount?.add(1);
        const { at: _, ...shown } = slowQueries.add(report);
        logger.warn(shown, 'slow query');
      },
    }),
  };
}

/** Returns a sample for every condition, so that an alert need not tell a missing one from 0. */
function samplesOf(found: readonly ProcessCondition[]): readonly Sample[] {
  return Object.entries(CONDITIONS).map(([code, { severity }]) => ({
    labels: { condition: code, severity },
    value: found.some((each) => each.code === code) ? 1 : 0,
  }));
}

/** Logs each condition when it begins, with its meaning, and when it is over. */
function logConditions(logger: Pick<Logger, 'warn' | 'info'>): ConditionReport {
  return {
    began: ({ code, message, readers, writers, advice }) =>
      logger.warn({ condition: code, readers, writers, advice }, message),
    ended: ({ code, message, since }) => logger.info({ condition: code, since }, `over: ${message}`),
  };
}

/** Values that a process with a log reports. */
export type ProcessGauges = {
  readonly log: EventStore;
  readonly index: ReadIndex;
  readonly registry: SchemaRegistry;
  /**
   * Position up to which the log was applied. It is later than the index's position if the log has only events of other namespaces in
   * between. Default: the index's position.
   */
  readonly applied?: () => bigint;
  /** Lag in seconds, for readiness. Default: the lag of the index. */
  readonly behind?: () => Promise<number>;
  /** Returns whether the index answers. Default: it is in this process. */
  readonly reachable?: (() => Promise<boolean>) | undefined;
  /** State of the documents in Elasticsearch, if there are any. */
  readonly documents?: (() => DocumentsStatus) | undefined;
};

export type DocumentsStatus = {
  readonly backlog: number;
  readonly oldestSeconds: number;
  readonly refused: number;
  readonly written: number;
};

/** Makes the process ready while its index has caught up with the log, and reports both positions at every scrape. */
export function registerGauges(
  { metrics, readiness }: Operating,
  { log, index, registry, documents, behind, reachable, applied = index.position }: ProcessGauges,
): { readonly lagSeconds: () => Promise<number> } {
  const view = createLagView(log, applied, Date.now);
  const lagSeconds = behind ?? view.seconds;
  readiness.serving(lagSeconds);
  if (metrics === undefined) return { lagSeconds };
  metrics.gauge(METRICS.logPosition, async () => Number(await view.head()));
  metrics.gauge(METRICS.projectionPosition, () => Number(index.position()));
  metrics.gauge(METRICS.lagEvents, async () => (await view.lag()).events);
  metrics.gauge(METRICS.lagSeconds, async () => (await view.lag()).seconds);
  metrics.gauge(METRICS.indexReachable, async () => Number((await reachable?.()) ?? true));
  metrics.samples(METRICS.indexRows, () => countShownRows(index, registry));
  if (index.local !== undefined) metrics.gauge(METRICS.staleRows, index.local.staleRows);
  if (documents === undefined) return { lagSeconds };
  metrics.gauge(METRICS.backlog, () => documents().backlog);
  metrics.gauge(METRICS.backlogOldest, () => documents().oldestSeconds);
  metrics.gauge(METRICS.refusedDocuments, () => documents().refused);
  metrics.total(METRICS.writtenDocuments, () => documents().written);
  return { lagSeconds };
}

/** Epochs that a process knows: of its own lease, and of the newest claim. */
export type LeaderGauges = { epoch(): number | undefined; newestEpoch(): number };

/** Reports at every scrape whether the process is the leader. */
export function watchLead({ metrics }: Operating, lead: LeaderGauges): void {
  metrics?.gauge(METRICS.leading, () => (lead.epoch() === undefined ? 0 : 1));
  metrics?.gauge(METRICS.leaderEpoch, lead.newestEpoch);
}
