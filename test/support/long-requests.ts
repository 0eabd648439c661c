import { OPERATORS, type OperatorName } from '../../services/query/operators.ts';
import { type QueryModel, type QueryScalar, queryModelOf } from '../../services/query/query-model.ts';
import type { SchemaRegistry } from '../../shared/schema/schema-registry.ts';
import { VALUE_POOL } from './naive-content.ts';
import type { Random } from './naive-random.ts';

/** A column that a filter can name: its key in the query string, its path with dots, and whether it is in a dynamic zone. */
type Column = {
  readonly key: string;
  readonly path: string;
  readonly scalar: QueryScalar;
  readonly inZone: boolean;
};

/** A request line has at most 16 KiB. */
const LONGEST_PATH = 15_500;
const LENGTHS = [1, 3, 60, 64, 66, 250, 700, 1_650, 5_000, 8_198, 15_000];
const OPERATOR_NAMES = Object.keys(OPERATORS) as OperatorName[];

/**
 * Returns requests that are as long as a client can make them: every operator on columns of every type, on the row itself, behind relations
 * and in components, and every parameter of a list. `texts`: texts of the content, which the requests repeat.
 */
export function longRequests(registry: SchemaRegistry, random: Random, texts: readonly string[]): string[] {
  const types = [...registry.contentTypes.values()].filter(({ uid }) => uid.startsWith('api::'));
  return types.flatMap((type) => {
    const columns = columnsOf(registry, queryModelOf(registry, type.uid));
    const requests: string[] = [];
    const add = (query: string) => requests.push(`/api/${type.pluralName}?${query}`.slice(0, LONGEST_PATH));
    const text = (length: number) => encoded(longText(random, texts, length));
    for (const operator of OPERATOR_NAMES) {
      for (const column of random.sample(columns, 4)) {
        add(filter(random, { ...column, operator, text: () => text(random.pick(LENGTHS)) }));
      }
    }
    for (const length of LENGTHS) {
      add(`_q=${text(length)}`);
      add(`search=${text(Math.min(512, length))}`);
      add(`search=${text(Math.min(500, length))}&facets=${named(random, columns, 10)}&highlight=*`);
      const { key } = random.pick(columns.filter(({ scalar }) => scalar.type === 'string'));
      add(`filters${key}[$containsi]=${text(length)}&sort=id:desc`);
    }
    for (const group of ['$and', '$or', '$not][$or'] as const) {
      for (const longest of [1, 8, 90])
        add(conditions(random, columns, group, () => text(random.between(1, longest))));
    }
    add(`sort=${named(random, columns, 90)}`);
    add(`sort=${named(random, columns, 3)}&pagination[cursor]=&pagination[pageSize]=100`);
    add(`fields=${named(random, columns, 100)}`);
    add(`facets=${named(random, columns, 20)}&_q=${text(30)}`);
    add(`pagination[page]=4000&pagination[pageSize]=25&filters[id][$notIn]=${'9,'.repeat(1_000)}`);
    add('populate=*&pagination[pageSize]=100');
    return requests;
  });
}

/** Returns the columns of a model, and those one step away. */
function columnsOf(registry: SchemaRegistry, model: QueryModel): readonly Column[] {
  const scalarsOf = (of: QueryModel, key: string, path: string, inZone = false) =>
    [...of.attributes.values()].flatMap((scalar): Column[] =>
      scalar.kind === 'scalar'
        ? [{ key: `${key}[${scalar.name}]`, path: `${path}${scalar.name}`, scalar, inZone }]
        : [],
    );
  const behind = [...model.attributes.values()].flatMap((attribute) => {
    if (attribute.kind === 'scalar') return [];
    const { name } = attribute;
    if (attribute.kind !== 'zone')
      return scalarsOf(queryModelOf(registry, attribute.target), `[${name}]`, `${name}.`);
    return attribute.components.flatMap((uid) =>
      scalarsOf(queryModelOf(registry, uid), `[${name}][on][${uid}]`, '', true),
    );
  });
  return [...scalarsOf(model, '', ''), ...behind];
}

type Comparison = Column & { readonly operator: OperatorName; readonly text: () => string };

function filter(random: Random, { key, scalar, operator, text }: Comparison): string {
  const { operand } = OPERATORS[operator];
  const at = `filters${key}[${operator}]`;
  const value = () =>
    isText(scalar) || operand === 'text' ? text() : encoded(String(poolValue(random, scalar)));
  if (operand === 'flag') return `${at}=true`;
  if (operand === 'pair') return `${at}[0]=${value()}&${at}[1]=${value()}`;
  if (operand !== 'list') return `${at}=${value()}`;
  return Array.from({ length: 900 }, (_, i) => `${at}[${i}]=${value().slice(0, 30)}`).join('&');
}

/** Returns as many short conditions as fit into a request. */
function conditions(random: Random, columns: readonly Column[], group: string, text: () => string): string {
  let query = '';
  for (let i = 0; query.length < LONGEST_PATH - 1_000 && i < 900; i++) {
    const operator = random.pick(['$contains', '$containsi', '$startsWith', '$eqi', '$ne'] as const);
    const { key } = random.pick(columns.filter(({ scalar }) => isText(scalar)));
    query += `${query === '' ? '' : '&'}filters[${group}][${i}]${key}[${operator}]=${text()}`;
  }
  return query;
}

function named(random: Random, columns: readonly Column[], count: number): string {
  const possible = columns.filter(
    ({ inZone, scalar }) => !inZone && scalar.type !== 'json' && scalar.type !== 'blocks',
  );
  return random
    .sample(possible, count)
    .map(({ path }) => path)
    .join(',');
}

function isText({ type }: QueryScalar): boolean {
  return type === 'string' || type === 'text' || type === 'richtext' || type === 'email' || type === 'uid';
}

function poolValue(random: Random, { type }: QueryScalar): unknown {
  const value = random.pick(VALUE_POOL[type] as readonly unknown[]);
  return typeof value === 'object' ? JSON.stringify(value) : value;
}

/** Returns a text of this length: one letter, words of the content, or a text of the content that other words follow. */
function longText(random: Random, texts: readonly string[], length: number): string {
  const kind = random.between(0, 3);
  if (kind === 0) return random.pick(['a', 'é', ' ', '日', '%', '\\']).repeat(length);
  let text = kind === 1 ? random.pick(texts) : '';
  while (text.length < length) text += `${text === '' ? '' : ' '}${random.pick(texts)}`;
  return text.slice(0, length).toWellFormed();
}

function encoded(text: string): string {
  let part = text;
  while (encodeURIComponent(part).length > LONGEST_PATH - 500)
    part = part.slice(0, part.length * 0.8).toWellFormed();
  return encodeURIComponent(part);
}
