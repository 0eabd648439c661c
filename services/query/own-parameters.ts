import { commaList } from '../../shared/comma-list.ts';
import { defined } from '../../shared/defined.ts';
import { invalidValue, type Problems } from './problems.ts';
import { isQueryList, isQueryObject, type QueryObject, type QueryValue } from './query-string.ts';

/** A parameter that Strapi does not have. `at`: the part of it with the value; absent: the parameter itself. */
type Place = { readonly param: string; readonly at?: string; readonly problems: Problems };

/** An attribute that a parameter names, and its options in brackets. `at`: its key in the query string. */
export type NamedAttribute = { readonly name: string; readonly at: string; readonly options: QueryObject };

/** Resolves `name,chef.name`, a list of such texts, or `facets[name][limit]=10`. `accepted`: the options. */
export function namedAttributes(
  value: QueryValue,
  at: string,
  accepted: unknown,
  place: Omit<Place, 'at'>,
): readonly NamedAttribute[] {
  if (typeof value === 'string') return commaList(value).map((name) => ({ name, at, options: {} }));
  if (isQueryList(value))
    return value.flatMap((each, i) => namedAttributes(each, `${at}[${i}]`, accepted, place));
  if (!isQueryObject(value)) {
    refuseValue({ ...place, at }, value, 'names of attributes');
    return [];
  }
  return Object.entries(value).map(([name, options = null]) => {
    const inside = `${at}[${name}]`;
    if (isQueryObject(options)) return { name, at: inside, options };
    if (options !== null && options !== '') refuseValue({ ...place, at: inside }, options, accepted);
    return { name, at: inside, options: {} };
  });
}

/** Resolves a text of at most `most` characters; undefined without a value, or if it is refused. */
export function resolveText(value: QueryValue | undefined, most: number, place: Place): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'string' && value.length <= most) return value;
  return refuseValue(place, value, `text of at most ${most} characters`);
}

/** Resolves a whole number from 1 to `most`; undefined without a value, or if it is refused. */
export function resolveCount(value: QueryValue | undefined, most: number, place: Place): number | undefined {
  if (value === undefined) return undefined;
  const count = typeof value === 'string' && value !== '' ? Number(value) : Number.NaN;
  if (Number.isSafeInteger(count) && count >= 1 && count <= most) return count;
  return refuseValue(place, value, `a whole number from 1 to ${most}`);
}

/** Resolves `true` and `false`; undefined without a value, or if it is refused. */
export function resolveFlag(value: QueryValue | undefined, { param, problems }: Place): boolean | undefined {
  if (value === undefined) return undefined;
  if (value === 'true' || value === 'false') return value === 'true';
  problems.push(invalidValue(param, value, ['true', 'false'], { expected: 'true or false' }));
  return undefined;
}

/** Refuses a value of a parameter. */
export function refuseValue({ param, at, problems }: Place, found: unknown, accepted: unknown): undefined {
  problems.push(invalidValue(param, found, accepted, defined({ at })));
}
