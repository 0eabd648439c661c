import { setTimeout as delay } from 'node:timers/promises';
import type { InterceptedAnswer, ProxiedRequest } from '../support/elasticsearch-proxy.ts';
import {
  answers,
  isBulk,
  isSearch,
  only,
  refusal,
  refusesConnections,
  silent,
} from './break-elasticsearch.ts';
import type { Fault } from './fault.ts';
import type { Observed } from './observe.ts';

function everyThird() {
  let count = 0;
  return () => (++count % 3 === 0 ? { isSent: false } : undefined);
}

const isBulkOfTags = (request: ProxiedRequest) => isBulk(request) && request.body.includes('api_tag_tag');
/** Refuses each document, as Elasticsearch does while an index has no primary shard. */
function refusesItems({ body }: ProxiedRequest): InterceptedAnswer {
  const error = { type: 'unavailable_shards_exception', reason: 'primary shard is not active' };
  const actions = body.split('\n').filter((line) => /^\{"(index|delete)":\{"_index"/.test(line));
  return {
    status: 200,
    json: { errors: true, items: actions.map(() => ({ index: { status: 503, error } })) },
  };
}

const isMonitoring = ({ path }: ProxiedRequest) => /_cluster|_stats/.test(path);

const AWAY: Partial<Observed> = {
  tags: 503,
  countries: 503,
  ready: 503,
  conditions: ['read-index-unreachable'],
};
const AWAY_ALERTS = ['VarveNotReady', 'VarveReadIndexUnreachable'];
const UNREACHABLE = /does not answer/;
const BOTH_LATER = { tags: 'later', countries: 'later' } as const;

export const ANSWERS_OF_ELASTICSEARCH: readonly Fault[] = [
  {
    name: 'connections are refused',
    make: refusesConnections(),
    during: { all: AWAY },
    writes: { tags: 202, countries: 202 },
    state: UNREACHABLE,
    log: /read-index-unreachable/,
    alerts: AWAY_ALERTS,
  },
  {
    name: 'connections of the leader are refused',
    make: refusesConnections('leader'),
    during: { leader: AWAY },
    writes: BOTH_LATER,
    state: UNREACHABLE,
    log: /accepts no documents, trying again/,
    alerts: AWAY_ALERTS,
  },
  {
    name: 'connections of the standby are refused',
    make: refusesConnections('standby'),
    during: { standby: AWAY },
    state: UNREACHABLE,
    log: /read-index-unreachable/,
    alerts: AWAY_ALERTS,
  },
  {
    name: 'connections of the api are refused',
    make: refusesConnections('api'),
    during: { api: AWAY },
    writes: BOTH_LATER,
    state: UNREACHABLE,
    log: /read-index-unreachable/,
    alerts: AWAY_ALERTS,
  },
  {
    name: 'every request gets 401',
    make: answers(() => refusal(401, 'security_exception', 'unable to authenticate user [varve]')),
    during: { all: AWAY },
    writes: BOTH_LATER,
    state: /unable to authenticate/,
    log: /unable to authenticate/,
    alerts: AWAY_ALERTS,
  },
  {
    name: 'every request gets 403',
    make: answers(() => refusal(403, 'security_exception', 'action is unauthorized for user [varve]')),
    during: { all: AWAY },
    writes: BOTH_LATER,
    state: /is unauthorized/,
    log: /is unauthorized/,
    alerts: AWAY_ALERTS,
  },
  {
    name: 'every request gets 429',
    make: answers(() => refusal(429, 'circuit_breaking_exception', '[parent] Data too large')),
    during: { all: AWAY },
    writes: BOTH_LATER,
    state: /Data too large/,
    log: /Data too large/,
    alerts: AWAY_ALERTS,
  },
  {
    name: '_bulk gets 500',
    make: answers((request) =>
      isBulk(request) ? refusal(500, 'io_exception', 'disk is broken') : undefined,
    ),
    during: {},
    writes: BOTH_LATER,
    log: /accepts no documents, trying again.*disk is broken|disk is broken.*accepts no documents, trying again/,
  },
  {
    name: '_search gets 503',
    make: answers(only(isSearch, refusal(503, 'search_phase_execution_exception', 'all shards failed'))),
    during: { all: { tags: 503, countries: 503 } },
    writes: BOTH_LATER,
    log: /all shards failed/,
  },
  {
    name: 'answers of _bulk are lost',
    make: answers(only(isBulk, { isSent: true })),
    during: {},
    writes: BOTH_LATER,
    log: /accepts no documents, trying again/,
  },
  {
    name: 'every connection breaks',
    make: answers(() => ({ isSent: false })),
    during: { all: AWAY },
    writes: BOTH_LATER,
    state: UNREACHABLE,
    log: /read-index-unreachable/,
    alerts: AWAY_ALERTS,
  },
  {
    name: 'no request is answered',
    make: answers(silent),
    during: { all: { ...AWAY, tags: 'late', countries: 'late' } },
    writes: BOTH_LATER,
    state: UNREACHABLE,
    log: /read-index-unreachable/,
    alerts: AWAY_ALERTS,
  },
  {
    name: 'no request of the leader is answered',
    make: answers(silent, 'leader'),
    during: { leader: { ...AWAY, tags: 'late', countries: 'late' } },
    writes: BOTH_LATER,
    state: UNREACHABLE,
    log: /read-index-unreachable/,
    alerts: AWAY_ALERTS,
  },
  {
    name: 'no request of the api is answered',
    make: answers(silent, 'api'),
    during: { api: { ...AWAY, tags: 'late', countries: 'late' } },
    writes: BOTH_LATER,
    state: UNREACHABLE,
    log: /read-index-unreachable/,
    alerts: AWAY_ALERTS,
  },
  {
    name: 'every answer takes 400 ms more',
    make: answers(() => delay(400, undefined)),
    during: {},
    lasts: 3_000,
  },
  {
    name: 'every third request is cut',
    make: answers(everyThird()),
    writes: BOTH_LATER,
    lasts: 3_000,
  },
  ...(
    [
      ['a load balancer without nodes answers 502', 502, '<html><h1>502 Bad Gateway</h1></html>'],
      ['another program answers 200 with a page', 200, '<html>Welcome to nginx</html>'],
      ['another program answers 404', 404, 'no such page'],
    ] as const
  ).map(
    ([name, status, text]): Fault => ({
      name,
      make: answers(() => ({ status, text })),
      during: { all: AWAY },
      writes: BOTH_LATER,
      state: UNREACHABLE,
      log: /read-index-unreachable/,
      alerts: AWAY_ALERTS,
    }),
  ),
  {
    name: 'an empty cluster answers at the same address',
    make: answers(({ path }) =>
      path.startsWith('/_') ? undefined : refusal(404, 'index_not_found_exception', 'no such index'),
    ),
    during: { all: { tags: 503, countries: 503 } },
    writes: BOTH_LATER,
  },
  {
    name: '_bulk gets 401',
    make: answers(only(isBulk, refusal(401, 'security_exception', 'the password has expired'))),
    during: {},
    writes: BOTH_LATER,
    log: /the password has expired/,
  },
  {
    name: '_bulk gets 403',
    make: answers(only(isBulk, refusal(403, 'security_exception', 'write is unauthorized'))),
    during: {},
    writes: BOTH_LATER,
    log: /write is unauthorized/,
  },
  {
    name: '_bulk gets 413',
    make: answers(only(isBulk, refusal(413, 'content_too_long', 'entity content is too long'))),
    during: {},
    writes: BOTH_LATER,
    log: /too large for a request/,
  },
  {
    name: '_bulk gets 429',
    make: answers(only(isBulk, refusal(429, 'es_rejected_execution_exception', 'rejected execution'))),
    during: {},
    writes: BOTH_LATER,
    log: /accepts no documents, trying again/,
  },
  {
    name: '_bulk gets 503',
    make: answers(only(isBulk, refusal(503, 'cluster_block_exception', 'no master'))),
    during: {},
    writes: BOTH_LATER,
    log: /no master/,
  },
  {
    name: '_bulk of one type gets 503',
    make: answers(only(isBulkOfTags, refusesItems)),
    during: {},
    writes: { tags: 202 },
    log: /primary shard is not active/,
  },
  {
    name: '_bulk of one type is not answered',
    make: answers(only(isBulkOfTags, silent)),
    during: {},
    writes: { tags: 202 },
  },
  {
    name: '_bulk is not answered',
    make: answers(only(isBulk, silent)),
    during: {},
    writes: BOTH_LATER,
    lasts: 3_000,
  },
  {
    name: '_search gets 429',
    make: answers(only(isSearch, refusal(429, 'es_rejected_execution_exception', 'queue is full'))),
    during: { all: { tags: 503, countries: 503 } },
    writes: BOTH_LATER,
    log: /queue is full/,
  },
  {
    name: '_search gets 500',
    make: answers(only(isSearch, refusal(500, 'null_pointer_exception', 'a bug'))),
    during: { all: { tags: 503, countries: 503 } },
    writes: BOTH_LATER,
    log: /a bug/,
  },
  {
    name: '_search gets 400',
    make: answers(only(isSearch, refusal(400, 'illegal_argument_exception', 'search.max_buckets is 1'))),
    during: { all: { tags: 503, countries: 503 } },
    writes: BOTH_LATER,
    log: /search.max_buckets is 1/,
  },
  {
    name: '_search gets 403',
    make: answers(only(isSearch, refusal(403, 'security_exception', 'read is unauthorized'))),
    during: { all: { tags: 503, countries: 503 } },
    writes: BOTH_LATER,
    log: /read is unauthorized/,
  },
  {
    name: '_search gets a cut JSON',
    make: answers(only(isSearch, { status: 200, text: '{"took":1,"hits":{"total":' })),
    during: { all: { tags: 503, countries: 503 } },
    writes: BOTH_LATER,
  },
  {
    name: '_search is not answered',
    make: answers(only(isSearch, silent)),
    during: { all: { tags: 'late', countries: 'late' } },
    writes: BOTH_LATER,
  },
  {
    name: 'the right "monitor" is missing',
    make: answers(only(isMonitoring, refusal(403, 'security_exception', 'monitor is unauthorized'))),
    // Reads are answered, but the health of the cluster is unknown: the least rights include it.
    during: { all: { ready: 503, conditions: ['read-index-unreachable'] } },
    state: /monitor is unauthorized/,
    alerts: AWAY_ALERTS,
    log: /monitor is unauthorized/,
  },
];
