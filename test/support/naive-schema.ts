import path from 'node:path';
import { type ListPlan, planList, type QueryRequest } from '../../services/query/plan-query.ts';
import { RequestError } from '../../shared/request-error.ts';
import { loadContentTypes } from '../../shared/schema/load-content-types.ts';
import { contentTypeOf, type SchemaRegistry } from '../../shared/schema/schema-registry.ts';

let loadedRegistry: SchemaRegistry | undefined;

/** Returns the content types of the conformance corpus. */
export function conformanceRegistry(): SchemaRegistry {
  if (loadedRegistry !== undefined) return loadedRegistry;
  const loaded = loadContentTypes(path.join(import.meta.dirname, '../conformance/schema'));
  if (loaded.kind !== 'loaded') throw new Error(JSON.stringify(loaded.problems));
  loadedRegistry = loaded.registry;
  return loadedRegistry;
}

/** Returns a request for one of the corpus's types, by its short name. Default: restaurants. */
export function requestOf(queryString: string, name = 'restaurant'): QueryRequest {
  const registry = conformanceRegistry();
  const type = contentTypeOf(registry, name.includes('::') ? name : `api::${name}.${name}`);
  return { registry, type, queryString, defaultLocale: 'en' };
}

export function planOf(queryString: string, name?: string): ListPlan {
  return planList(requestOf(queryString, name));
}

/** Returns the refusal that `run` throws. Fails if it throws none. */
export function refusalOf(run: () => unknown): RequestError {
  try {
    run();
  } catch (error) {
    if (error instanceof RequestError) return error;
    throw error;
  }
  throw new Error('the request was accepted');
}
