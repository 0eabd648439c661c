import { usesOf } from '../../shared/schema/scalar-uses.ts';
import { lookUp } from '../query/query-model.ts';
import type { QueryObject } from '../query/query-string.ts';
import type { InstantQuery } from './instant-query.ts';
import type { InstantContext } from './named-attributes.ts';

/** Largest number of facets of a query. */
const MAX_FACETS = 20;
const EVERYTHING = '*';

/** Returns the list endpoint's `facets` parameter that counts the facets of a query. */
export function countedFacets(query: InstantQuery, context: InstantContext): QueryObject {
  const { facet } = query;
  const order = query.sortFacetsBy === 'alpha' ? 'name' : 'count';
  if (facet !== undefined) return { [facet.name]: { limit: String(facet.limit), search: facet.text, order } };
  const named = query.facets.filter((name) => name !== EVERYTHING);
  // Named facets come first, so that the limit removes others before them.
  const names = query.facets.includes(EVERYTHING) ? [...named, ...everyFacet(context)] : named;
  const options = { limit: String(query.maxValuesPerFacet), order };
  return Object.fromEntries([...new Set(names)].slice(0, MAX_FACETS).map((name) => [name, options]));
}

function everyFacet({ type, model, scope }: InstantContext): readonly string[] {
  return [...type.attributes.keys()].filter((name) => {
    const attribute = lookUp(model, name, scope);
    return attribute !== undefined && attribute !== 'hidden' && attribute.kind === 'scalar'
      ? usesOf(attribute.type).hasFewValues
      : false;
  });
}
