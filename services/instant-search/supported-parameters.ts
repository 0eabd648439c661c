import { RequestError } from '../../shared/request-error.ts';
import { ALGOLIA_PARAMETERS, algoliaParameter, NO_SERVICE } from './algolia-parameters.ts';

const HONOURED = Object.entries(ALGOLIA_PARAMETERS).flatMap(([name, { use }]) =>
  use === 'honoured' ? [name] : [],
);

/**
 * Refuses every parameter that would have to change the answer and does not. Returns the names of those that are ignored. Throws
 * RequestError.
 */
export function refuseUnsupported(parameters: { readonly [name: string]: unknown }): readonly string[] {
  const ignored: string[] = [];
  for (const [name, value] of Object.entries(parameters)) {
    const known = algoliaParameter(name);
    if (known?.use === 'honoured') continue;
    if (known?.use === 'ignored') {
      ignored.push(name);
      continue;
    }
    if (known !== undefined && asksForNothing(value)) continue;
    throw new RequestError(
      'not-supported',
      known === undefined
        ? `Unknown parameter '${name}'`
        : `The parameter '${name}' is not supported: ${known.note}`,
      { param: name, found: name, accepted: HONOURED },
    );
  }
  return ignored;
}

/** Refuses parameters of a query in a URL, where Algolia's clients send those of the connection. Throws RequestError. */
export function refuseInUrl(names: Iterable<string>): void {
  for (const name of names) {
    const use = algoliaParameter(name)?.use;
    if (use === undefined || use === 'ignored') continue;
    throw new RequestError('not-supported', `The parameter '${name}' belongs in the body`, {
      param: name,
      found: name,
      accepted: 'parameters of a query in the body, as JSON',
    });
  }
}

/** Clients also send parameters that they have switched off. */
function asksForNothing(value: unknown): boolean {
  return (
    value === undefined ||
    value === null ||
    value === '' ||
    value === false ||
    value === 'false' ||
    value === 'keywordSearch'
  );
}

/** Refuses what Algolia's other services are asked. */
export function refuseService(service: keyof typeof NO_SERVICE): never {
  throw new RequestError('not-supported', NO_SERVICE[service], {
    accepted: ['/1/indexes/*/queries', '/1/indexes/:name/query', '/1/indexes/:name/facets/:facet/query'],
  });
}
