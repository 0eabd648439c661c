import { FOLLOW_METRICS } from './follow-metrics.ts';

/** Metrics of Varve for Prometheus, in addition to the process's own (`process_…`, `nodejs_…`). */
export type MetricDefinition = {
  readonly name: `varve_${string}`;
  readonly kind: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  readonly labels: readonly string[];
  /** How the values of several workers become one. Default: the sum of counts, and the greatest gauge. */
  readonly ofWorkers?: 'sum' | 'min';
};

/** The dashboard and the alert rules in infra/ name these; test/infra/grafana.test.ts compares. */
export const METRICS = {
  httpRequests: {
    name: 'varve_http_request_duration_seconds',
    kind: 'histogram',
    help: 'From the request to the last byte of its answer, by route (not by URL)',
    labels: ['method', 'route', 'status'],
  },
  queryPhases: {
    name: 'varve_query_phase_duration_seconds',
    kind: 'histogram',
    help: 'Time of answered queries: plan, search, populate (only where there was any) and render',
    labels: ['phase'],
  },
  unsentBytes: {
    name: 'varve_http_unsent_bytes',
    kind: 'gauge',
    help: 'Bytes of answers that clients have not read yet',
    labels: [],
    ofWorkers: 'sum',
  },
  waitingRequests: {
    name: 'varve_http_waiting_requests',
    kind: 'gauge',
    help: 'Requests that wait for the answer to an earlier one on their connection',
    labels: [],
    ofWorkers: 'sum',
  },
  knownAnswers: {
    name: 'varve_answer_cache_hits_total',
    kind: 'counter',
    help: 'Reads answered without a query, with a remembered answer or a 304',
    labels: [],
  },
  unknownAnswers: {
    name: 'varve_answer_cache_misses_total',
    kind: 'counter',
    help: 'Reads whose answer was not remembered, or was changed since',
    labels: [],
  },
  answerCacheBytes: {
    name: 'varve_answer_cache_bytes',
    kind: 'gauge',
    help: 'Memory of remembered answers, about',
    labels: [],
    ofWorkers: 'sum',
  },
  slowQueries: {
    name: 'varve_slow_queries_total',
    kind: 'counter',
    help: 'Queries slower than the threshold of the slow-query log',
    labels: [],
  },
  appends: {
    name: 'varve_append_duration_seconds',
    kind: 'histogram',
    help: 'Time until events were durable in the log',
    labels: [],
  },
  appendConflicts: {
    name: 'varve_append_conflicts_total',
    kind: 'counter',
    help: 'Appends that found their stream at another revision',
    labels: [],
  },
  projectedBatches: {
    name: 'varve_project_batch_duration_seconds',
    kind: 'histogram',
    help: 'Time to apply a batch of events to the content graph and the read index',
    labels: [],
  },
  projectedEvents: {
    name: 'varve_projected_events_total',
    kind: 'counter',
    help: 'Events applied since the start of the process',
    labels: [],
  },
  logPosition: {
    name: 'varve_log_position',
    kind: 'gauge',
    help: 'Position of the last event in the log',
    labels: [],
  },
  projectionPosition: {
    name: 'varve_projection_position',
    kind: 'gauge',
    help: 'Position up to which the read index has applied the log',
    labels: [],
    ofWorkers: 'min',
  },
  lagEvents: {
    name: 'varve_projection_lag_events',
    kind: 'gauge',
    help: 'Events in the log that the read index has not applied yet, counted up to 5000',
    labels: [],
  },
  lagSeconds: {
    name: 'varve_projection_lag_seconds',
    kind: 'gauge',
    help: 'Age of the oldest event that the read index has not applied yet',
    labels: [],
  },
  indexRows: {
    name: 'varve_index_rows',
    kind: 'gauge',
    help: 'Rows that the read index shows, by content type and world',
    labels: ['type', 'world'],
  },
  staleRows: {
    name: 'varve_search_stale_rows',
    kind: 'gauge',
    help: 'Rows whose words in the embedded index are older than their texts, own or of related rows; searches read them first',
    labels: [],
  },
  backlog: {
    name: 'varve_fanout_backlog_documents',
    kind: 'gauge',
    help: 'Stale documents in Elasticsearch',
    labels: [],
  },
  backlogOldest: {
    name: 'varve_fanout_oldest_seconds',
    kind: 'gauge',
    help: 'Age of the oldest of them; 0 when caught up',
    labels: [],
  },
  refusedDocuments: {
    name: 'varve_index_refused_documents',
    kind: 'gauge',
    help: 'Documents that Elasticsearch refused',
    labels: [],
  },
  writtenDocuments: {
    name: 'varve_index_written_documents_total',
    kind: 'counter',
    help: 'Documents written to Elasticsearch since the start of the process',
    labels: [],
  },
  workerRestarts: {
    name: 'varve_worker_restarts',
    kind: 'gauge',
    help: 'Processes that served and crashed before this one, since the server was started',
    labels: [],
  },
  halted: {
    name: 'varve_halted',
    kind: 'gauge',
    help: '1 while this process does not apply the log, because it cannot read an event of Varve; else 0',
    labels: [],
  },
  foreignEvents: {
    name: 'varve_foreign_events_total',
    kind: 'counter',
    help: 'Events of other programs in the streams of the namespace that were skipped since the start of the process',
    labels: [],
  },
  leading: {
    name: 'varve_leading',
    kind: 'gauge',
    help: '1 while this process carries out the writes of its log, else 0',
    labels: [],
  },
  leaderEpoch: {
    name: 'varve_leader_epoch',
    kind: 'gauge',
    help: 'Epoch of the newest known claim of the lease; every change of the leader raises it',
    labels: [],
  },
  ignoredParameters: {
    name: 'varve_ignored_parameters_total',
    kind: 'counter',
    help: 'Unknown root parameters of requests that were ignored',
    labels: [],
  },
  forwardedWrites: {
    name: 'varve_forwarded_writes_total',
    kind: 'counter',
    help: 'Writes that this process forwarded to the leader',
    labels: [],
  },
  generation: {
    name: 'varve_generation',
    kind: 'gauge',
    help: 'Number of the live generation of the read model',
    labels: [],
  },
  rebuildProgress: {
    name: 'varve_rebuild_progress_ratio',
    kind: 'gauge',
    help: 'Finished part of the current phase of a rebuild, from 0 to 1; 1 without a rebuild',
    labels: [],
  },
  rebuildLag: {
    name: 'varve_rebuild_lag_events',
    kind: 'gauge',
    help: 'Events that the generation being built still has to apply; 0 without one',
    labels: [],
  },
  ready: {
    name: 'varve_ready',
    kind: 'gauge',
    help: '1 while /health/ready answers 200, else 0',
    labels: [],
    ofWorkers: 'min',
  },
  build: {
    name: 'varve_build_info',
    kind: 'gauge',
    help: 'Always 1; versions are in the labels',
    labels: ['version', 'node'],
  },
  ...FOLLOW_METRICS,
  purgesWaiting: {
    name: 'varve_purge_changes_waiting',
    kind: 'gauge',
    help: 'Changes that a cache has not been purged of, on the leader',
    labels: ['receiver'],
  },
  webhooksWaiting: {
    name: 'varve_webhook_deliveries_waiting',
    kind: 'gauge',
    help: 'Deliveries of webhooks that are to be sent, on the leader',
    labels: [],
  },
  webhooksParked: {
    name: 'varve_webhook_deliveries_parked',
    kind: 'gauge',
    help: 'Deliveries of webhooks that were given up until they are replayed, on the leader',
    labels: [],
  },
  webhooksOldest: {
    name: 'varve_webhook_oldest_waiting_seconds',
    kind: 'gauge',
    help: 'Age of the oldest delivery that is to be sent, on the leader; 0 if there is none',
    labels: [],
  },
  webhooksDelivered: {
    name: 'varve_webhook_delivered_total',
    kind: 'counter',
    help: 'Deliveries of webhooks that a receiver accepted',
    labels: [],
  },
  webhooksFailed: {
    name: 'varve_webhook_failed_attempts_total',
    kind: 'counter',
    help: 'Attempts to deliver a webhook that failed',
    labels: [],
  },
} as const satisfies Readonly<Record<string, MetricDefinition>>;
