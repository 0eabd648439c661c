import type { InterceptedAnswer, ProxiedRequest } from '../support/elasticsearch-proxy.ts';
import { describeFaults } from './describe-faults.ts';
import type { Fault, Role } from './fault.ts';
import type { FaultFleet, Roles } from './fault-fleet.ts';
import type { Observed } from './observe.ts';

type Decide = (
  request: ProxiedRequest,
) => InterceptedAnswer | undefined | Promise<InterceptedAnswer | undefined>;

/** Replaces answers for the processes of these roles, or for all. */
function answers(decide: Decide, ...roles: readonly Role[]) {
  return async ({ all }: FaultFleet, given: Roles) => {
    const proxies = (roles.length === 0 ? all : roles.map((role) => given[role])).map(({ proxy }) => proxy);
    for (const proxy of proxies) proxy.intercept(decide);
    return () => {
      for (const proxy of proxies) proxy.intercept(() => undefined);
    };
  };
}

/** Refuses connections of the processes of these roles, or of all. */
function refusesConnections(...roles: readonly Role[]) {
  return async ({ all }: FaultFleet, given: Roles) => {
    const proxies = (roles.length === 0 ? all : roles.map((role) => given[role])).map(({ proxy }) => proxy);
    for (const proxy of proxies) proxy.lose();
    return () => {
      for (const proxy of proxies) proxy.restore();
    };
  };
}

const refusal = (status: number, type: string, reason: string): InterceptedAnswer => ({
  status,
  json: { error: { type, reason, root_cause: [{ type, reason }] }, status },
});
const isBulk = ({ path }: ProxiedRequest) => /_bulk/.test(path);
const isSearch = ({ path }: ProxiedRequest) => /_m?search|_mget|_pit/.test(path);

const AWAY: Partial<Observed> = {
  tags: 503,
  countries: 503,
  ready: 503,
  conditions: ['read-index-unreachable'],
};
const AWAY_ALERTS = ['VarveNotReady', 'VarveReadIndexUnreachable'];
const UNREACHABLE = /does not answer/;
const BOTH_LATER = { tags: 'later', countries: 'later' } as const;

const FAULTS: readonly Fault[] = [
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
    make: answers((request) =>
      isSearch(request) ? refusal(503, 'search_phase_execution_exception', 'all shards failed') : undefined,
    ),
    during: { all: { tags: 503, countries: 503 } },
    writes: BOTH_LATER,
    log: /all shards failed/,
  },
  {
    name: 'answers of _bulk are lost',
    make: answers((request) => (isBulk(request) ? { isSent: true } : undefined)),
    during: {},
    writes: BOTH_LATER,
    log: /accepts no documents, trying again/,
  },
];

await describeFaults('answers of Elasticsearch', FAULTS);
