import type { BoolQuery } from '../../shared/read-index/bool-query.ts';
import type { ContentType } from '../../shared/schema/content-type.ts';
import type { Equality } from './tag.ts';

/** Longer values are not part of a tag. */
const MAX_LENGTH = 200;

/** Fields whose equality narrows the tags of a list, the most selective ones first. */
export function narrowingFields(type: ContentType): readonly string[] {
  const known = fields.get(type);
  if (known !== undefined) return known;
  const scalars = [...type.attributes.values()].filter((one) => one.kind === 'scalar' && !one.private);
  const named = (holds: (scalar: (typeof scalars)[number] & { kind: 'scalar' }) => boolean) =>
    scalars.flatMap((one) => (one.kind === 'scalar' && holds(one) ? [one.name] : []));
  const texts = new Set(['string', 'email', 'uid']);
  const found = [
    'documentId',
    ...named(({ type: kind, unique }) => kind === 'uid' || (unique && texts.has(kind))),
    ...named(({ type: kind }) => kind === 'enumeration'),
    ...named(({ type: kind }) => kind === 'boolean'),
    ...(type.localized ? ['locale'] : []),
  ];
  const distinct = [...new Set(found)];
  fields.set(type, distinct);
  return distinct;
}

const fields = new WeakMap<ContentType, readonly string[]>();

/** Returns whether a value can narrow a tag. */
export function narrows(value: unknown): boolean {
  return typeof value === 'boolean' || (typeof value === 'string' && value.length <= MAX_LENGTH);
}

/** The most selective equality that every row of a query satisfies; undefined if there is none. */
export function narrowingOf(type: ContentType, query: BoolQuery): Equality | undefined {
  const required = new Map<string, unknown>();
  collect(query, required);
  const field = narrowingFields(type).find((one) => required.has(one));
  return field === undefined ? undefined : { field, value: required.get(field) };
}

function collect(query: BoolQuery, required: Map<string, unknown>): void {
  if (query.kind === 'term' && narrows(query.value)) required.set(query.field, query.value);
  if (query.kind === 'bool') for (const part of query.filter ?? []) collect(part, required);
}

const ORDERED = new Set([
  ...['string', 'email', 'uid', 'enumeration', 'boolean', 'integer', 'float', 'decimal'],
  ...['date', 'time', 'datetime'],
]);

/** Fields that rows are told apart by in an order: the same value has the same text in each row. */
export function orderedFields(type: ContentType): ReadonlySet<string> {
  const known = ordered.get(type);
  if (known !== undefined) return known;
  const scalars = [...type.attributes.values()].filter((one) => one.kind === 'scalar' && !one.private);
  const names = scalars.flatMap((one) => (one.kind === 'scalar' && ORDERED.has(one.type) ? [one.name] : []));
  const found = new Set(names);
  ordered.set(type, found);
  return found;
}

const ordered = new WeakMap<ContentType, ReadonlySet<string>>();

/** Returns whether a value of such a field can be part of a tag. */
export function isOrderValue(value: unknown): boolean {
  return value === null || typeof value === 'number' || narrows(value);
}
