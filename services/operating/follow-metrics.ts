/** Metrics of a process that follows a Strapi. */
export const FOLLOW_METRICS = {
  followAge: {
    name: 'varve_follow_age_seconds',
    kind: 'gauge',
    help: 'Seconds since what is stored was last seen to be what the followed Strapi has; absent until then, and where another process follows',
    labels: [],
  },
  followPending: {
    name: 'varve_follow_pending_documents',
    kind: 'gauge',
    help: 'Documents of the followed Strapi that wait to be read',
    labels: [],
  },
  followKept: {
    name: 'varve_follow_kept_rows',
    kind: 'gauge',
    help: 'Rows that the followed Strapi no longer has, kept because they are too many to be deleted at once',
    labels: [],
  },
  followReachable: {
    name: 'varve_follow_reachable',
    kind: 'gauge',
    help: '1 while the followed Strapi answers; absent where another process follows',
    labels: [],
  },
  followComparison: {
    name: 'varve_follow_comparison_seconds',
    kind: 'gauge',
    help: 'Duration of the last comparison of all ids with the followed Strapi',
    labels: [],
  },
  followRequests: {
    name: 'varve_follow_requests_total',
    kind: 'counter',
    help: 'Requests to the followed Strapi',
    labels: [],
  },
  followEvents: {
    name: 'varve_follow_events_total',
    kind: 'counter',
    help: 'Events written for changes of the followed Strapi',
    labels: [],
  },
  followWebhooks: {
    name: 'varve_follow_webhooks_total',
    kind: 'counter',
    help: 'Webhooks taken from the followed Strapi',
    labels: [],
  },
} as const;
