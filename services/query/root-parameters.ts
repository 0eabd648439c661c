import { invalidKey, type Problems } from './problems.ts';
import type { QueryObject } from './query-string.ts';

/** Parameters that Strapi accepts with `strictParams`. It ignores some of them (SEMANTICS section 10). */
const ROOT_PARAMETERS = [
  'filters',
  'sort',
  'fields',
  'populate',
  'status',
  'locale',
  'pagination',
  'page',
  'pageSize',
  'start',
  'limit',
  '_q',
  'publicationFilter',
  'hasPublishedVersion',
  'count',
  'ordering',
];

/** Called for a root parameter that is ignored, as Strapi does without `strictParams`. */
export type IgnoreParameter = (name: string) => void;

/** Refuses every other name, whatever its value; ignores it if `ignore` is given. `more` are Varve's own names on this route. */
export function checkRootParameters(
  query: QueryObject,
  problems: Problems,
  { more = [], ignore }: { readonly more?: readonly string[]; readonly ignore?: IgnoreParameter | undefined },
): void {
  for (const name of Object.keys(query)) {
    if (ROOT_PARAMETERS.includes(name) || more.includes(name)) continue;
    if (ignore !== undefined) ignore(name);
    else problems.push(invalidKey(name, null, name, [...ROOT_PARAMETERS, ...more]));
  }
}
