import type { InterceptedAnswer, ProxiedRequest } from '../support/elasticsearch-proxy.ts';
import type { Role } from './fault.ts';
import type { FaultFleet, Roles } from './fault-fleet.ts';

type Decide = (
  request: ProxiedRequest,
  ended: Promise<void>,
) => InterceptedAnswer | undefined | Promise<InterceptedAnswer | undefined>;

/** Makes a fault that replaces answers for the processes of these roles, or for all. */
export function answers(decide: Decide, ...roles: readonly Role[]) {
  return async ({ all }: FaultFleet, given: Roles) => {
    const proxies = (roles.length === 0 ? all : roles.map((role) => given[role])).map(({ proxy }) => proxy);
    const ended = Promise.withResolvers<void>();
    for (const proxy of proxies) proxy.intercept((request) => decide(request, ended.promise));
    return () => {
      ended.resolve();
      for (const proxy of proxies) proxy.intercept(() => undefined);
    };
  };
}

/** Makes a fault that refuses connections of the processes of these roles, or of all. */
export function refusesConnections(...roles: readonly Role[]) {
  return async ({ all }: FaultFleet, given: Roles) => {
    const proxies = (roles.length === 0 ? all : roles.map((role) => given[role])).map(({ proxy }) => proxy);
    for (const proxy of proxies) proxy.lose();
    return () => {
      for (const proxy of proxies) proxy.restore();
    };
  };
}

/** Returns an answer in which Elasticsearch refuses a request. */
export function refusal(status: number, type: string, reason: string): InterceptedAnswer {
  return { status, json: { error: { type, reason, root_cause: [{ type, reason }] }, status } };
}
/** Returns true for a request that writes documents. */
export function isBulk({ path }: ProxiedRequest): boolean {
  return path.includes('_bulk');
}

/** Returns true for a request that a read of the API sends. */
export function isSearch({ path }: ProxiedRequest): boolean {
  return /_m?search|_mget|_pit/.test(path);
}

/** Returns a decision for some requests; the others are passed on. */
export function only(
  isMeant: (request: ProxiedRequest) => boolean,
  answer: Decide | InterceptedAnswer,
): Decide {
  return (request, ended) => {
    if (!isMeant(request)) return undefined;
    return typeof answer === 'function' ? answer(request, ended) : answer;
  };
}

/** Holds a request until the fault has ended, and passes it on then. */
export async function silent(_request: ProxiedRequest, ended: Promise<void>): Promise<undefined> {
  await ended;
}
