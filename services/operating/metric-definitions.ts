import { defined } from '../../shared/defined.ts';

/** Metrics of Varve for Prometheus, in addition to the process's own (`process_…`, `nodejs_…`). */
export type MetricDefinition = {
  readonly name: `varve_${string}`;
  readonly kind: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  readonly labels: readonly string[];
  /** Function that joins the values of several workers. Default: the sum of counts, and the greatest gauge. */
  readonly ofWorkers?: 'sum' | 'min';
};

/** The dashboard and the alert rules in infra/ use these names. test/infra/grafana.test.ts compares them. */
export const METRICS = {
  httpRequests: histogram(
    'varve_http_request_duration_seconds',
    'From the request to the last byte of its answer, by route (not by URL)',
    'method',
    'route',
    'status',
  ),
  queryPhases: histogram(
    'varve_query_phase_duration_seconds',
    'Time of answered queries, by step: plan, search, populate (if the query populates) and render',
    'phase',
  ),
  unsentBytes: gauge('varve_http_unsent_bytes', 'Bytes of answers that clients have not read yet', {
    ofWorkers: 'sum',
  }),
  waitingRequests: gauge(
    'varve_http_waiting_requests',
    'Requests that wait for the answer to an earlier one on their connection',
    { ofWorkers: 'sum' },
  ),
  knownAnswers: counter(
    'varve_answer_cache_hits_total',
    'Reads answered without a query, with a remembered answer or a 304',
  ),
  unknownAnswers: counter(
    'varve_answer_cache_misses_total',
    'Reads whose answer was not remembered, or had changed since',
  ),
  answerCacheBytes: gauge('varve_answer_cache_bytes', 'Approximate memory of remembered answers', {
    ofWorkers: 'sum',
  }),
  containedFailures: counter(
    'varve_contained_failures_total',
    'Failures of requests that no code handled, which did not end the process: each is a bug',
  ),
  slowQueries: counter('varve_slow_queries_total', 'Queries slower than the threshold of the slow-query log'),
  appends: histogram('varve_append_duration_seconds', 'Time until events were durable in the log'),
  appendConflicts: counter(
    'varve_append_conflicts_total',
    'Appends that found their stream at another revision',
  ),
  projectedBatches: histogram(
    'varve_project_batch_duration_seconds',
    'Time to apply a batch of events to the content graph and the read index',
  ),
  projectedEvents: counter('varve_projected_events_total', 'Events applied since the start of the process'),
  logPosition: gauge('varve_log_position', 'Position of the last event in the log'),
  projectionPosition: gauge(
    'varve_projection_position',
    'Position up to which the read index has applied the log',
    { ofWorkers: 'min' },
  ),
  lagEvents: gauge(
    'varve_projection_lag_events',
    'Events in the log that the read index has not applied yet, counted up to 5000',
  ),
  lagSeconds: gauge(
    'varve_projection_lag_seconds',
    'Age of the oldest event that the read index has not applied yet',
  ),
  indexRows: gauge('varve_index_rows', 'Rows that the read index shows, by content type and world', {
    labels: ['type', 'world'],
  }),
  indexReachable: gauge(
    'varve_read_index_reachable',
    '1 while the read index answers, else 0; always 1 for the embedded index',
    { ofWorkers: 'min' },
  ),
  staleRows: gauge(
    'varve_search_stale_rows',
    'Rows whose words in the embedded index are older than their texts, own or of related rows; searches read them first',
  ),
  backlog: gauge(
    'varve_fanout_backlog_documents',
    'Documents in Elasticsearch whose current state searches do not show yet',
  ),
  backlogOldest: gauge(
    'varve_fanout_oldest_seconds',
    'Age of the oldest stale document in Elasticsearch; 0 if there is none',
  ),
  refusedDocuments: gauge('varve_index_refused_documents', 'Documents that Elasticsearch refused'),
  writtenDocuments: counter(
    'varve_index_written_documents_total',
    'Documents written to Elasticsearch since the start of the process',
  ),
  workerRestarts: gauge(
    'varve_worker_restarts',
    'Processes that served and crashed before this one, since the server was started',
  ),
  halted: gauge(
    'varve_halted',
    '1 while this process does not apply the log, because it cannot read an event of Varve; else 0',
  ),
  foreignEvents: counter(
    'varve_foreign_events_total',
    'Events of other programs in the streams of the namespace that were skipped since the start of the process',
  ),
  leading: gauge('varve_leading', '1 while this process carries out the writes of its log, else 0'),
  leaderEpoch: gauge(
    'varve_leader_epoch',
    'Epoch of the newest known claim of the lease; every change of the leader raises it',
  ),
  ignoredParameters: counter(
    'varve_ignored_parameters_total',
    'Unknown root parameters of requests that were ignored',
  ),
  forwardedWrites: counter(
    'varve_forwarded_writes_total',
    'Writes that this process forwarded to the leader',
  ),
  generation: gauge('varve_generation', 'Number of the live generation of the read model'),
  rebuildProgress: gauge(
    'varve_rebuild_progress_ratio',
    'Finished part of the current phase of a rebuild, from 0 to 1; 1 without a rebuild',
  ),
  rebuildLag: gauge(
    'varve_rebuild_lag_events',
    'Events that the generation being built still has to apply; 0 if none is being built',
  ),
  conditions: gauge('varve_condition', '1 while the condition holds, else 0; varve status explains it', {
    labels: ['condition', 'severity'],
  }),
  ready: gauge('varve_ready', '1 while /health/ready answers 200, else 0', { ofWorkers: 'min' }),
  build: gauge('varve_build_info', 'Always 1; versions are in the labels', { labels: ['version', 'node'] }),
  followAge: gauge(
    'varve_follow_age_seconds',
    'Seconds since the stored content was last known to equal that of the followed Strapi; absent before the first time, and if another process follows it',
  ),
  followPending: gauge(
    'varve_follow_pending_documents',
    'Documents of the followed Strapi that wait to be read',
  ),
  followKept: gauge(
    'varve_follow_kept_rows',
    'Rows that the followed Strapi no longer has, kept because they are too many to be deleted at once',
  ),
  followReachable: gauge(
    'varve_follow_reachable',
    '1 while the followed Strapi answers; absent if another process follows it',
  ),
  followComparison: gauge(
    'varve_follow_comparison_seconds',
    'Duration of the last comparison of all ids with the followed Strapi',
  ),
  followRequests: counter('varve_follow_requests_total', 'Requests to the followed Strapi'),
  followEvents: counter('varve_follow_events_total', 'Events written for changes of the followed Strapi'),
  followWebhooks: counter('varve_follow_webhooks_total', 'Webhooks received from the followed Strapi'),
  purgesWaiting: gauge(
    'varve_purge_changes_waiting',
    'Changes that still have to be purged from a cache, on the leader',
    { labels: ['receiver'] },
  ),
  webhooksWaiting: gauge(
    'varve_webhook_deliveries_waiting',
    'Deliveries of webhooks that wait to be sent, on the leader',
  ),
  webhooksParked: gauge(
    'varve_webhook_deliveries_parked',
    'Parked deliveries of webhooks, which are not sent until they are replayed, on the leader',
  ),
  webhooksOldest: gauge(
    'varve_webhook_oldest_waiting_seconds',
    'Age of the oldest delivery that waits to be sent, on the leader; 0 if there is none',
  ),
  webhooksDelivered: counter(
    'varve_webhook_delivered_total',
    'Deliveries of webhooks that a receiver accepted',
  ),
  webhooksFailed: counter('varve_webhook_failed_attempts_total', 'Attempts to deliver a webhook that failed'),
  releasesPending: gauge('varve_releases_pending', 'Releases that were not carried out, on the leader'),
  releasesDue: gauge(
    'varve_releases_due',
    'Scheduled releases whose time has passed and that are not carried out yet, on the leader',
  ),
  releasesDone: counter('varve_releases_done_total', 'Releases carried out since the start of the process'),
  releasesFailed: counter(
    'varve_releases_failed_total',
    'Attempts to carry a release out that failed, since the start of the process',
  ),
  releaseLateness: histogram(
    'varve_release_lateness_seconds',
    'Time from the moment for which a release was scheduled until it was stored',
  ),
};

type Name = MetricDefinition['name'];

function counter(name: Name, help: string) {
  return { kind: 'counter', name, help, labels: [] } as const;
}

function gauge(
  name: Name,
  help: string,
  { labels = [], ofWorkers }: Partial<Pick<MetricDefinition, 'labels' | 'ofWorkers'>> = {},
) {
  return { kind: 'gauge', name, help, labels, ...defined({ ofWorkers }) } as const;
}

function histogram(name: Name, help: string, ...labels: readonly string[]) {
  return { kind: 'histogram', name, help, labels } as const;
}
