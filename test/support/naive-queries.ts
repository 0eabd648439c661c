import { OPERATORS, type OperatorName } from '../../services/query/operators.ts';
import {
  type QueryModel,
  type QueryScalar,
  type QueryScope,
  queryModelOf,
} from '../../services/query/query-model.ts';
import { fieldTypeOf } from '../../shared/read-index/column.ts';
import { VALUE_POOL } from './naive-content.ts';
import type { Random } from './naive-random.ts';

/** Traits of a generated filter: the property test requires enough filters with each. */
export type FilterTraits = {
  depth: number;
  notAboveToMany: boolean;
  orAboveToMany: boolean;
  nullOperand: boolean;
  inZone: boolean;
  readonly operators: Set<OperatorName>;
  readonly types: Set<string>;
};

export type GeneratedQuery = { readonly filters: string; readonly traits: FilterTraits };

type Place = {
  readonly key: string;
  readonly model: QueryModel;
  readonly depth: number;
  readonly under: readonly ('not' | 'or')[];
};
type Context = {
  readonly random: Random;
  readonly scope: QueryScope;
  readonly traits: FilterTraits;
  readonly parts: string[];
  /** Row variables that may still be introduced. */
  mentions: number;
};

const NAMES = Object.keys(OPERATORS) as OperatorName[];

/**
 * Generates a random valid `filters[…]` query string of a content type, with at most `mentions` mentions of relations and
 * components.
 */
export function generateQuery(
  random: Random,
  scope: QueryScope,
  uid: string,
  mentions: number,
): GeneratedQuery {
  const traits: FilterTraits = {
    depth: 0,
    notAboveToMany: false,
    orAboveToMany: false,
    nullOperand: false,
    inZone: false,
    operators: new Set(),
    types: new Set(),
  };
  const context: Context = { random, scope, traits, parts: [], mentions };
  generateGroup(context, { key: 'filters', model: queryModelOf(scope.registry, uid), depth: 0, under: [] });
  return { filters: context.parts.join('&'), traits };
}

/** Generates one or two sibling conditions. Their names differ: a repeated key would be another request. */
function generateGroup(context: Context, place: Place): void {
  const { random } = context;
  const used = new Set<string>();
  for (let left = random.chance(0.35) ? 2 : 1; left > 0; left--) {
    const grouped = random.chance(0.35) && !isLarge(context, place);
    const name = grouped ? random.pick(['$and', '$or', '$or', '$not']) : pickAttribute(context, place);
    if (used.has(name)) continue;
    used.add(name);
    generateMember(context, place, name);
  }
}

function generateMember(context: Context, place: Place, name: string): void {
  const key = `${place.key}[${name}]`;
  if (name === '$not') {
    generateGroup(context, { ...place, key, under: [...place.under, 'not'] });
    return;
  }
  if (name === '$and' || name === '$or') {
    const under = name === '$or' ? [...place.under, 'or' as const] : place.under;
    const count = name === '$or' ? context.random.between(1, 3) : context.random.between(1, 2);
    for (let i = 0; i < count; i++) generateGroup(context, { ...place, key: `${key}[${i}]`, under });
    return;
  }
  const attribute = place.model.attributes.get(name);
  if (attribute === undefined) throw new Error(`no attribute ${name}`);
  if (attribute.kind === 'scalar') {
    generateComparison(context, key, attribute);
    return;
  }
  if (attribute.kind === 'zone') {
    const kind = context.random.pick(attribute.components);
    context.traits.inZone = true;
    generateLink(context, { ...place, key: `${key}[on][${kind}]` }, kind, true);
    return;
  }
  generateLink(context, { ...place, key }, attribute.target, attribute.toMany);
}

function generateLink(context: Context, place: Place, target: string, toMany: boolean): void {
  const { random, traits } = context;
  context.mentions--;
  const depth = place.depth + 1;
  traits.depth = Math.max(traits.depth, depth);
  if (toMany && place.under.includes('not')) traits.notAboveToMany = true;
  if (toMany && place.under.includes('or')) traits.orAboveToMany = true;
  const model = queryModelOf(context.scope.registry, target);
  const inner: Place = { ...place, model, depth };
  if (random.chance(0.12)) {
    const id = model.attributes.get('id') as QueryScalar;
    const operator = random.pick(['$null', '$notNull', '$in', '$ne'] as const);
    generateOperator(context, place.key, id, operator);
    return;
  }
  if (random.chance(0.15) && !isLarge(context, place)) {
    const group = random.pick(['$and', '$or'] as const);
    const under = group === '$or' ? [...place.under, 'or' as const] : place.under;
    for (let i = random.between(0, 1); i >= 0; i--) {
      generateGroup(context, { ...inner, key: `${place.key}[${group}][${i}]`, under });
    }
    return;
  }
  // Inside a relation, operators cannot be mixed with names, so these are all names.
  const length = random.chance(0.3) ? 2 : 1;
  const names = new Set(Array.from({ length }, () => pickAttribute(context, inner)));
  for (const name of names) generateMember(context, inner, name);
}

function pickAttribute(context: Context, place: Place): string {
  const links = [...place.model.attributes.values()].filter((attribute) => attribute.kind !== 'scalar');
  const possible = context.mentions > 0 && links.length > 0 && !isLarge(context, place);
  const goDeeper = possible && context.random.chance(0.6);
  return goDeeper ? context.random.pick(links).name : pickScalar(context, place).name;
}

/** Returns true if a query should not grow. qs keeps 20 levels, and a condition may add several. URLs have a limited length. */
function isLarge(context: Context, place: Place): boolean {
  return place.key.split('[').length > 11 || context.parts.length > 15;
}

function pickScalar(context: Context, place: Place): QueryScalar {
  const scalars = [...place.model.attributes.values()].filter((attribute) => attribute.kind === 'scalar');
  return context.random.pick(scalars);
}

function generateComparison(context: Context, key: string, column: QueryScalar): void {
  const { random } = context;
  const fieldType = fieldTypeOf(column.type);
  const operators = NAMES.filter((name) =>
    (OPERATORS[name].fieldTypes as readonly string[]).includes(fieldType),
  );
  const place = random.chance(0.15) ? `${key}[$not]` : key;
  for (const operator of random.sample(operators, random.chance(0.2) ? 2 : 1)) {
    generateOperator(context, place, column, operator);
  }
}

function generateOperator(context: Context, key: string, column: QueryScalar, operator: OperatorName): void {
  const { random, traits, parts } = context;
  traits.operators.add(operator);
  traits.types.add(column.type);
  const { operand } = OPERATORS[operator];
  const place = `${key}[${operator}]`;
  const one = (name: string) => {
    if (operand !== 'flag' && random.chance(0.04)) {
      traits.nullOperand = true;
      parts.push(name);
    } else parts.push(`${name}=${encodeURIComponent(operandText(random, operand, column))}`);
  };
  if (operand === 'pair') {
    one(`${place}[0]`);
    one(`${place}[1]`);
  } else if (operand === 'list' || (operand !== 'flag' && random.chance(0.15))) {
    for (let i = random.between(0, 2); i >= 0; i--) one(`${place}[${i}]`);
  } else one(place);
}

function operandText(random: Random, operand: string, column: QueryScalar): string {
  if (operand === 'flag') return random.pick(['true', 'false']);
  if (column.name === 'id') return String(random.between(1, 200));
  const value = random.pick(VALUE_POOL[column.type]);
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
  if (operand === 'text') return [...text].slice(0, random.between(0, 4)).join('');
  return fieldTypeOf(column.type) === 'json' ? JSON.stringify(value) : text;
}
