import { OPERATORS, type OperatorName } from '../../services/query/operators.ts';
import { fieldTypeOf } from '../../shared/read-index/column.ts';
import type { ContentType } from '../../shared/schema/content-type.ts';
import type { SchemaRegistry } from '../../shared/schema/schema-registry.ts';
import type { Random } from '../support/naive-random.ts';
import { oddOperand, oddText } from './odd-values.ts';
import type { WrittenValue } from './odd-writes.ts';

export type OddReadSource = {
  readonly random: Random;
  readonly registry: SchemaRegistry;
  readonly written: readonly WrittenValue[];
  readonly documents: readonly string[];
};

const FILTERS = 14;
const SORTS = 4;
const ENTRIES = 3;
const SCOPES = ['', 'status=draft', 'status=draft&locale=de', 'locale=*&status=draft', 'locale=it'];
const POPULATES = [
  'populate=*',
  'populate[list][populate]=*',
  'populate[zone][on][odd.top][populate]=*',
  'populate[one][populate][list][populate][zone][populate]=*',
  'populate[tags][fields]=name&populate[tags][sort]=name:desc&populate[owner]=true',
  'populate[parent][populate]=children&populate[friends][fields]=title',
  'populate[children][sort]=title&populate[tags][count]=true',
];
const TAG_READS = [
  '/api/tags?pagination[pageSize]=40&populate[things][fields]=title&populate[owned][fields]=mark',
  '/api/tags?filters[things][title][$notNull]=true&sort=weight:desc,name&pagination[pageSize]=60',
  '/api/tags?filters[owned][id][$notNull]=true&sort=owned.title,id&fields=name,weight',
  '/api/tags?sort=name:desc&pagination[page]=3',
];
/** Characters of a filter's operand. A URL has a limit. */
const OPERAND = 3_000;

/** Returns the paths of reads of everything, and of filters on values that were written. */
export function makeOddReads(source: OddReadSource): readonly string[] {
  const { random, written, documents } = source;
  const some = <Item>(count: number, make: () => Item) => Array.from({ length: count }, make);
  const scope = () => random.pick(SCOPES);
  const lists = ['', 'status=draft&locale=*'].map(
    (each) => `/api/things?sort=id&pagination[pageSize]=100&${each}`,
  );
  const settings = ['', '&status=draft'].map((each) => `/api/setting?populate=*${each}`);
  const populates = some(
    2,
    () => `/api/things?sort=id&pagination[pageSize]=60&${random.pick(POPULATES)}&${scope()}`,
  );
  const entries = some(documents.length === 0 ? 0 : ENTRIES, () => {
    const query = random.pick(POPULATES);
    return `/api/things/${random.pick(documents)}?${query}&${scope()}`;
  });
  // Zones inside of components are refused in filters.
  const filtered = written.filter(
    ({ type, place }) => type.kind === 'collectionType' && (!place.includes('][zone]') || random.chance(0.1)),
  );
  const filters = some(filtered.length === 0 ? 0 : FILTERS, () => {
    const first = random.pick(filtered);
    return `/api/${first.type.pluralName}?fields=id&sort=id&pagination[pageSize]=100&${filterOf(random, first)}&${scope()}`;
  });
  const sorts = some(
    SORTS,
    () => `/api/things?fields=id&sort=${sortOf(source)}&pagination[pageSize]=100&${scope()}`,
  );
  const words = some(2, () => `/api/things?fields=id&sort=id&_q=${textOf(oddText(random))}&${scope()}`);
  return [
    ...lists,
    ...settings,
    ...populates,
    ...entries,
    ...filters,
    ...sorts,
    ...words,
    random.pick(TAG_READS),
  ];
}

function filterOf(random: Random, { place, attribute, value }: WrittenValue): string {
  const fieldType = fieldTypeOf(attribute.type);
  const names = (Object.keys(OPERATORS) as OperatorName[]).filter((name) =>
    (OPERATORS[name].fieldTypes as readonly string[]).includes(fieldType),
  );
  const operator = random.pick(names);
  const not = random.chance(0.15) ? '[$not]' : '';
  const at = `filters${place}${not}[${operator}]`;
  const { operand } = OPERATORS[operator];
  if (operand === 'flag') return `${at}=${random.pick(['true', 'false'])}`;
  const text = textOf(operand === 'text' ? partOf(random, value) : value);
  if (operand === 'pair') return `${at}[0]=${text}&${at}[1]=${text}`;
  return operand === 'list' ? `${at}[0]=${text}&${at}[1]=x` : `${at}=${text}`;
}

/** Returns some characters of a text's beginning, middle or end. */
function partOf(random: Random, value: unknown): string {
  const text = oddOperand(value);
  const length = random.pick([1, 3, 10, 300, OPERAND]);
  const from = random.pick([0, 0, Math.floor(text.length / 2), Math.max(0, text.length - length)]);
  return text.slice(from, from + length);
}

function textOf(value: unknown): string {
  return encodeURIComponent(oddOperand(value).slice(0, OPERAND).toWellFormed());
}

function sortOf({ random, registry }: OddReadSource): string {
  const scalars = (uid: string) =>
    [...(registry.contentTypes.get(uid) as ContentType).attributes.values()].filter(
      (attribute) => attribute.kind === 'scalar' && !attribute.private,
    );
  const direction = random.pick(['', ':desc']);
  const kind = random.next();
  if (kind < 0.15) return `owner.${random.pick(['name', 'weight'])}${direction},id`;
  if (kind < 0.3) return `parent.${random.pick(scalars('api::thing.thing')).name}${direction},id`;
  return `${random.pick(scalars('api::thing.thing')).name}${direction},id${random.pick(['', ':desc'])}`;
}
