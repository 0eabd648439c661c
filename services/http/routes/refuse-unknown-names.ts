import type { FastifyContextConfig, FastifyInstance, FastifyRequest } from 'fastify';
import { RequestError } from '../../../shared/request-error.ts';
import { type Problems, refuseIfAny, refuseOtherNames } from '../../query/problems.ts';
import { parseQueryString } from '../../query/query-string.ts';
import { queryOf } from './entry-routes.ts';

type Accepted = readonly string[] | 'all';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Query parameters that a route below `/_varve` reads, each once. Default: none. */
    readonly parameters?: Accepted;
    /** Members of a body that a route below `/_varve` reads. Default: none. */
    readonly members?: Accepted;
  }
}

/** Configuration of routes with a body `{"data": …}`. */
export const WITH_DATA: FastifyContextConfig = { members: ['data'] };

const OWN_PATHS = '/_varve/';

/**
 * Refuses names in queries and bodies that a route below `/_varve` does not read, because they would be ignored. Applies to routes that are
 * registered later. The content API has rules of its own.
 */
export function refuseUnknownNames(app: FastifyInstance): void {
  app.addHook('onRoute', (route) => {
    if (!route.url.startsWith(OWN_PATHS)) return;
    const { parameters = [], members = [] } = route.config ?? {};
    const check = async (request: FastifyRequest) => {
      if (parameters !== 'all') refuseParameters(queryOf(request), parameters);
      if (members !== 'all') refuseMembers(request.body, members);
    };
    route.preHandler = [route.preHandler ?? [], check].flat();
  });
}

function refuseParameters(text: string, accepted: readonly string[]): void {
  const query = parseQueryString(text);
  const problems: Problems = [];
  refuseOtherNames(query, accepted, problems);
  for (const param of accepted) {
    const found = query[param];
    if (found === undefined || typeof found === 'string') continue;
    const message = `Invalid parameter at '${param}'`;
    problems.push({ phase: 'parameter', message, param, found, accepted: 'one value' });
  }
  refuseIfAny(problems);
}

/** Throws 400 for a member of a body that is not accepted. */
export function refuseMembers(body: unknown, accepted: readonly string[]): void {
  const key = Object.keys(body ?? {}).find((name) => !accepted.includes(name));
  if (key === undefined) return;
  const details = { key, path: null, source: 'body', found: key, accepted };
  throw new RequestError('invalid-body', `Invalid key ${key}`, details);
}
