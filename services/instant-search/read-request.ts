import { RequestError } from '../../shared/request-error.ts';
import type { InstantQuery } from './instant-query.ts';
import { refuseParameter } from './parameter-readers.ts';
import { type RawParameters, readQuery } from './read-query.ts';

/** Queries of one request. */
const MAX_QUERIES = 50;

/** Reads a body with a list of queries, each with its index. Throws RequestError. */
export function readQueries(body: unknown): readonly InstantQuery[] {
  const { requests, strategy, ...others } = objectOf(body, 'the body');
  for (const name of Object.keys(others)) refuseMember(name);
  if (strategy !== undefined && strategy !== 'none')
    refuseParameter({ param: 'strategy', value: strategy }, 'none');
  if (!Array.isArray(requests) || requests.length > MAX_QUERIES)
    return refuseParameter(
      { param: 'requests', value: Array.isArray(requests) ? requests.length : (requests ?? null) },
      `a list of at most ${MAX_QUERIES} queries`,
    );
  return requests.map((each: unknown) => {
    const { indexName, ...parameters } = objectOf(each, 'a query');
    if (typeof indexName !== 'string')
      return refuseParameter({ param: 'indexName', value: indexName ?? null }, 'the name of an index');
    return readQuery({ indexName, parameters: parametersOf(parameters) });
  });
}

/** Reads a body with the parameters of one query. */
export function readOneQuery(indexName: string, body: unknown): InstantQuery {
  return readQuery({ indexName, parameters: parametersOf(objectOf(body ?? {}, 'the body')) });
}

/** Reads a body with the parameters of a search for values of a facet. */
export function readFacetRequest(indexName: string, facet: string, body: unknown): InstantQuery {
  const { type = 'facet', facet: named = facet, ...others } = parametersOf(objectOf(body ?? {}, 'the body'));
  if (type !== 'facet') refuseParameter({ param: 'type', value: type }, 'facet');
  if (named !== facet) refuseParameter({ param: 'facet', value: named }, `${facet}, as in the path`);
  return readQuery({ indexName, parameters: { ...others, type, facet } });
}

/** Parameters are members of the body, or of `params`: a query string or an object. */
function parametersOf({ params, ...members }: RawParameters): RawParameters {
  if (params === undefined || params === null) return members;
  const given =
    typeof params === 'string'
      ? [...new URLSearchParams(params)]
      : Object.entries(objectOf(params, "'params'"));
  const parameters = new Map<string, unknown>(Object.entries(members));
  for (const [name, value] of given) {
    if (parameters.has(name)) refuseRepeated(name);
    parameters.set(name, value);
  }
  return Object.fromEntries(parameters);
}

/** Refuses a repeated parameter: one of its values would be ignored, and it may be a filter. */
function refuseRepeated(name: string): never {
  throw new RequestError('invalid-query', `The parameter '${name}' is there twice`, {
    param: name,
    found: name,
    accepted: 'each parameter once',
  });
}

function objectOf(value: unknown, what: string): RawParameters {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as RawParameters;
  throw new RequestError('invalid-query', `${what} must be a JSON object`, {
    found: value ?? null,
    accepted: 'an object',
  });
}

function refuseMember(name: string): never {
  throw new RequestError('not-supported', `Unknown member '${name}' of the body`, {
    found: name,
    accepted: ['requests', 'strategy'],
  });
}
