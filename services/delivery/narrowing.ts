import { valueAt } from '../../shared/map-values.ts';
import type { BoolQuery } from '../../shared/read-index/bool-query.ts';
import { remembered } from '../../shared/remembered.ts';
import type { ContentType, ScalarAttribute, Uid } from '../../shared/schema/content-type.ts';
import { usesOf } from '../../shared/schema/scalar-uses.ts';
import { contentTypeOf, type SchemaRegistry } from '../../shared/schema/schema-registry.ts';
import type { Equality } from './tag.ts';

/** Maximum length of a value in a tag. */
const MAX_LENGTH = 200;

/** Fields whose equality narrows the tags of a list, the most selective ones first. */
export const narrowingFields = remembered((type: ContentType): readonly string[] => {
  const scalars = scalarsOf(type);
  const named = (holds: (scalar: ScalarAttribute) => boolean) =>
    scalars.flatMap((one) => (holds(one) ? [one.name] : []));
  const found = [
    ...identifyingFields(type),
    ...named(({ type: kind }) => kind !== 'boolean' && usesOf(kind).selects === 'few'),
    ...named(({ type: kind }) => kind === 'boolean'),
    ...(type.localized ? ['locale'] : []),
  ];
  return [...new Set(found)];
});

/** Fields whose value is usually different in each document. */
export const identifyingFields = remembered((type: ContentType): readonly string[] => {
  const isOne = ({ type: kind, unique }: ScalarAttribute) =>
    usesOf(kind).selects === 'one' && (unique || kind === 'uid');
  return ['documentId', ...scalarsOf(type).flatMap((one) => (isOne(one) ? [one.name] : []))];
});

function scalarsOf({ attributes }: ContentType): readonly ScalarAttribute[] {
  return [...attributes.values()].filter((one) => one.kind === 'scalar' && !one.private) as ScalarAttribute[];
}

/** A to-one relation that its content type owns: an equality of a field behind it narrows the tags of a list. */
export type NarrowingRelation = {
  readonly owner: Uid;
  readonly attribute: string;
  readonly target: ContentType;
};

type NarrowingRelations = {
  readonly of: Map<Uid, NarrowingRelation[]>;
  readonly to: Map<Uid, NarrowingRelation[]>;
};

/** Returns the relations of a content type that narrow lists of its rows. */
export function narrowingRelations(
  registry: SchemaRegistry,
  { uid }: ContentType,
): readonly NarrowingRelation[] {
  return relationsIn(registry).of.get(uid) ?? [];
}

/** Returns the relations that narrow lists by rows of this content type. */
export function relationsNarrowedBy(
  registry: SchemaRegistry,
  { uid }: ContentType,
): readonly NarrowingRelation[] {
  return relationsIn(registry).to.get(uid) ?? [];
}

const relationsIn = remembered((registry: SchemaRegistry): NarrowingRelations => {
  const all = [...registry.contentTypes.values()].flatMap(({ uid: owner, attributes }) =>
    [...attributes.values()].flatMap((one) => {
      if (one.kind !== 'relation' || one.private || one.toMany) return [];
      if (one.mappedBy !== undefined || one.media !== undefined) return [];
      return [{ owner, attribute: one.name, target: contentTypeOf(registry, one.target) }];
    }),
  );
  return {
    of: Map.groupBy(all, ({ owner }) => owner),
    to: Map.groupBy(all, ({ target }) => target.uid),
  };
});

/** Returns whether a value can narrow a tag. */
export function narrows(value: unknown): boolean {
  return typeof value === 'boolean' || (typeof value === 'string' && value.length <= MAX_LENGTH);
}

/** An equality that every row of a query satisfies, and the part of the query that requires it. */
export type Narrowing = { readonly equality: Equality; readonly part: BoolQuery };

/** Returns the most selective equality that every row of a query satisfies; undefined if there is none. */
export function narrowingOf(
  registry: SchemaRegistry,
  type: ContentType,
  query: BoolQuery,
): Narrowing | undefined {
  if (query.kind === 'match_all') return undefined;
  return mostSelective(candidatesIn(registry)(type), query, undefined);
}

/** A field whose equality narrows lists. More selective fields have a lower `rank`. */
type Candidate = { readonly field: string; readonly rank: number };
/** Candidates by the to-one relation that leads to the field ('' for own fields), and by the field's name. */
type Candidates = ReadonlyMap<string, ReadonlyMap<string, Candidate>>;

/** Own and linked fields of a content type. Remembered by registry too, because registries may share a type. */
const candidatesIn = remembered((registry: SchemaRegistry) =>
  remembered((type: ContentType): Candidates => {
    const own = narrowingFields(type).map((name) => ['', name] as const);
    const linked = narrowingRelations(registry, type).flatMap(({ attribute, target }) =>
      identifyingFields(target).map((name) => [attribute, name] as const),
    );
    const first = identifyingFields(type).length;
    const candidates = new Map<string, Map<string, Candidate>>();
    for (const [rank, [relation, name]] of [
      ...own.slice(0, first),
      ...linked,
      ...own.slice(first),
    ].entries()) {
      const field = relation === '' ? name : `${relation}.${name}`;
      valueAt(candidates, relation, () => new Map<string, Candidate>()).set(name, { field, rank });
    }
    return candidates;
  }),
);

type RankedNarrowing = Narrowing & Pick<Candidate, 'rank'>;

/** Returns the most selective equality among those of a query and `before`. */
function mostSelective(
  candidates: Candidates,
  query: BoolQuery,
  before: RankedNarrowing | undefined,
): RankedNarrowing | undefined {
  if (query.kind === 'bool') {
    let best = before;
    for (const part of query.filter ?? []) best = mostSelective(candidates, part, best);
    return best;
  }
  const relation = query.kind === 'some' ? query.attribute : '';
  const term = query.kind === 'some' ? query.query : query;
  if (term.kind !== 'term' || !narrows(term.value)) return before;
  const candidate = candidates.get(relation)?.get(term.field);
  if (candidate === undefined || (before !== undefined && before.rank < candidate.rank)) return before;
  const { field, rank } = candidate;
  return { equality: { field, value: term.value }, part: query, rank };
}

const ORDERED = new Set([
  ...['string', 'email', 'uid', 'enumeration', 'boolean', 'integer', 'float', 'decimal'],
  ...['date', 'time', 'datetime'],
]);

/** Returns the fields whose text distinguishes rows in an order: equal values have equal texts. */
export const orderedFields = remembered(
  (type: ContentType): ReadonlySet<string> =>
    new Set(scalarsOf(type).flatMap((one) => (ORDERED.has(one.type) ? [one.name] : []))),
);

/** Returns whether a value of such a field can be part of a tag. */
export function isOrderValue(value: unknown): boolean {
  return value === null || typeof value === 'number' || narrows(value);
}
