import type { Random } from '../support/naive-random.ts';
import type { Pair } from './requests.ts';

/** Actions of the callers that must not see everything. */
export const ALLOWED = ['restaurant.find', 'restaurant.findOne', 'tag.find', 'tag.findOne', 'article.find'];

/** Texts that no other caller may see. No input contains one. */
export const SECRETS = { draft: 'dr4ft-only', private: 'pr1v4te-note', forbidden: 'f0rb1dden-chef' } as const;

/**
 * Attributes of restaurants that these callers must not see: private, a password, relations and media of types without the right.
 * Names such as `createdBy` are not a secret: every type of every Strapi project has them.
 */
export const HIDDEN = [
  'internalNote',
  'secretPin',
  'chef',
  'category',
  'menu',
  'reviews',
  'homeCountry',
  'logo',
  'gallery',
];
export const WAYS = [
  '',
  'tags.restaurants',
  'branches',
  'parent',
  'similar',
  'tags.restaurants.branches',
  'parent.tags.restaurants',
];

type UrlPair = Pick<Pair, 'name' | 'other' | 'isRepeated'> & {
  readonly first: string;
  readonly second: string;
};
type Parameter = (name: string, way: readonly string[], random: Random) => string;

const inBrackets = (names: readonly string[]): string => names.map((name) => `[${name}]`).join('');
const populated = (way: readonly string[]): string =>
  way.length === 0 ? '' : `populate${way.map((name) => `[${name}]`).join('[populate]')}`;
const operators = ['$eq', '$ne', '$null', '$notNull', '$in', '$containsi', '$startsWith', '$gt', '$between'];

/** Every place of a query string that can name an attribute. */
export const LEAK_PARAMETERS: readonly Parameter[] = [
  (name, way) => `filters${inBrackets([...way, name])}=1`,
  (name, way, random) => `filters${inBrackets([...way, name, random.pick(operators)])}=a`,
  (name, way) => `filters${inBrackets([...way, name, 'name'])}=a`,
  (name, way) => `filters${inBrackets([...way, name, 'id', '$gt'])}=0`,
  (name, way, random) => `filters[${random.pick(['$and', '$or'])}][0]${inBrackets([...way, name])}=1`,
  (name, way) => `filters[$or][0][name]=x&filters[$or][1]${inBrackets([...way, name, '$notNull'])}=true`,
  (name, way) => `filters[$not]${inBrackets([...way, name])}=1`,
  (name, way, random) => `sort=${[...way, name].join('.')}${random.pick(['', ':desc', ':asc'])}`,
  (name, way) => `sort[0]=name&sort[1]=${[...way, name, 'name'].join('.')}`,
  (name) => `sort[${name}]=asc`,
  (name) => `fields=${name}`,
  (name) => `fields[0]=name&fields[1]=${name}`,
  (name, way) => `populate=${[...way, name].join('.')}`,
  (name, way) => `populate[0]=tags&populate[1]=${[...way, name].join('.')}`,
  (name, way) => `${populated([...way, name])}=true`,
  (name, way) => `${populated([...way, name])}[fields][0]=name`,
  (name, way) => `${populated([...way, name])}[count]=true`,
  (name, way) => (way.length === 0 ? `fields=${name}` : `${populated(way)}[fields][0]=${name}`),
  (name, way) => (way.length === 0 ? `sort=${name}` : `${populated(way)}[sort]=${name}:asc`),
  (name, way) => (way.length === 0 ? `filters[${name}]=a` : `${populated(way)}[filters][${name}][$eq]=a`),
  (name, way) => (way.length === 0 ? `populate=${name}` : `${populated(way)}[populate]=${name}`),
  (name, way) => `facets=name,${[...way, name].join('.')}`,
  (name, way) => `facets[${[...way, name, 'name'].join('.')}][limit]=3`,
  (name, way) => `search=open&facets[${[...way, name].join('.')}][search]=a`,
  (name) => `search=open&highlight=${name}`,
  (name) => `search=open&highlight[${name}][snippet]=3`,
];

const TEXTS = [
  '$startsWith',
  '$contains',
  '$containsi',
  '$eqi',
  '$ne',
  '$notContains',
  '$endsWith',
  '$in',
  '$lte',
  '$gt',
];
const VALUES = [SECRETS.draft, SECRETS.draft.slice(0, 5), SECRETS.draft.slice(0, 3)];

/** Returns two URLs that filter by a text: of drafts only, and of no document. Both texts sort to the same place among visible texts. */
function valuePair(random: Random) {
  const name = random.pick(VALUES);
  const other = `${name.slice(0, -1)}${name.endsWith('4') ? '5' : '!'}`;
  const way = random.pick(WAYS).split('.').filter(Boolean);
  const [path, attribute] = random.pick([
    ['/api/restaurants', 'name'],
    ['/api/restaurants', 'description'],
    ['/api/tags', 'restaurants][name'],
    ['/api/articles', 'featured][name'],
  ] as const);
  const steps = path === '/api/restaurants' ? inBrackets(way) : '';
  const condition = `filters${steps}[${attribute}][${random.pick(TEXTS)}]`;
  const wrapped = random.pick([
    condition,
    condition.replace('filters', 'filters[$not]'),
    condition.replace('filters', 'filters[$or][0]'),
    path === '/api/restaurants' ? `populate[similar]${condition.replace('filters', '[filters]')}` : condition,
  ]);
  const url = (value: string) =>
    `${path}?${wrapped}=${value}${wrapped.startsWith('populate') ? '' : '&populate=*'}&pagination[pageSize]=100`;
  return { name, other, first: url(name), second: url(other) };
}

const SEARCHES: readonly ((text: string) => string)[] = [
  (text) => `search=${text}`,
  (text) => `search=${text}&typoTolerance=false&facets=name`,
  (text) => `search=open ${text}&facets=name,stars&highlight=name,description`,
  (text) => `search=${text}&sort=name&_q=e`,
  (text) => `facets[name][search]=${text}&facets[similar.name][search]=${text}`,
  (text) => `search=a b c open ${text}&highlight[name][snippet]=2`,
];

/** Returns two URLs that search for a prefix: of a text that the caller may not see, and of no text. Both are equally long. */
function searchPair(random: Random) {
  const name =
    random
      .pick(Object.values(SECRETS))
      .split('-')[0]
      ?.slice(0, random.pick([3, 10])) ?? '';
  const other = `${name.slice(0, 2)}${'7'.repeat(name.length - 2)}`;
  const search = random.pick(SEARCHES);
  const url = (text: string) => `/api/restaurants?${search(text)}`.replaceAll(' ', '%20');
  return { name, other, first: url(name), second: url(other), isRepeated: true as const };
}

/** Returns two URLs that differ only in one name: of something hidden, and of nothing. Both names are equally long. */
export function leakPair(random: Random, parameters: readonly Parameter[]): UrlPair {
  if (random.chance(0.2)) return searchPair(random);
  if (random.chance(0.3)) return valuePair(random);
  const name = random.pick(HIDDEN);
  const other = `zq${'x'.repeat(name.length - 2)}`;
  const way = random.pick(WAYS).split('.').filter(Boolean);
  const parameter = random.pick(parameters);
  // Both URLs get the same random numbers.
  const draws = random.between(0, 2 ** 31);
  const others = random.pick(['', '&status=draft', '&locale=de', '&pagination[pageSize]=1', '&_q=a']);
  const path = random.pick(['/api/restaurants', '/api/restaurants', '/api/restaurants/none']);
  const url = (each: string) => `${path}?${parameter(each, way, fixed(random, draws))}${others}`;
  return { name, other, first: url(name), second: url(other) };
}

export function fixed(random: Random, draws: number): Random {
  return { ...random, pick: (items) => items[draws % items.length] as (typeof items)[number] };
}
