import type { Random } from '../support/naive-random.ts';
import { fixed, HIDDEN, SECRETS, WAYS } from './leaks.ts';
import { mutateJson, mutateText } from './mutate.ts';
import { type Caller, encode, type FuzzMaterial, type Request } from './requests.ts';

/** Requests of Algolia's protocol: mutated requests of its clients, and pairs that must get equal answers. */

type Parameters = { readonly [name: string]: unknown };

const INDICES = [
  ...[
    'restaurants',
    'restaurants',
    'restaurants:name:desc',
    'restaurants:tags.name:asc',
    'tags',
    'articles/de',
  ],
  ...['articles', 'articles/*', 'chefs', 'menus', 'users', 'restaurants/', ':', 'nope', ''],
];
const QUERIES = ['', 'open', 'opne', 'a b c d e f', 'plain ', 'x'.repeat(600), '東京', '"open"', '-', 'o'];
const FILTERS = [
  'name:open',
  'NOT stars > 3',
  'stars:1 TO 5 AND (tags.name:open OR name:"a b")',
  'createdAt > 0',
  '((((name:a))))',
  'name:a AND name:b OR name:c',
  `${'('.repeat(30)}name:a${')'.repeat(30)}`,
];
const LISTS = [
  ['name:open'],
  [['name:open', 'tags.name:-a'], 'stars:3'],
  ['name:\\-a'],
  [[]],
  'name:a,stars:1',
];
const NUMBERS = [
  ['stars>1'],
  [['stars=1', 'stars!=2']],
  ['stars:1 TO 3'],
  'stars<5',
  ['name>1'],
  ['stars>x'],
];
const NAMES = [
  ['*'],
  ['name'],
  ['tags.name', 'stars'],
  ['-name', '*'],
  ['name:5'],
  [],
  ['address.city'],
  'name',
];

const PARAMETERS: Readonly<Record<string, readonly unknown[]>> = {
  query: QUERIES,
  page: [0, 1, 999_999_999, -1, '0'],
  hitsPerPage: [0, 1, 20, 1_000, 1_001],
  filters: FILTERS,
  facetFilters: LISTS,
  numericFilters: NUMBERS,
  facets: NAMES,
  maxValuesPerFacet: [1, 1_000, 0],
  type: ['default', 'facet'],
  facet: ['name', 'tags.name', 'stars'],
  facetQuery: ['o', '', 'x'.repeat(200)],
  maxFacetHits: [1, 100],
  highlightPreTag: ['<em>', '<script>', '$1'],
  attributesToRetrieve: NAMES,
  attributesToHighlight: NAMES,
  attributesToSnippet: NAMES,
  restrictSearchableAttributes: NAMES,
  typoTolerance: [true, 'false', 'min'],
  userToken: ['u'],
  aroundLatLng: ['1,2', '91,2'],
  aroundRadius: [1, 'all', 0],
  aroundPrecision: [1, 1_000, []],
  params: ['query=open&hitsPerPage=3&facets=%5B%22name%22%5D', 'query=%zz', { query: 'open' }],
};

function someParameters(random: Random): Parameters {
  const names = random.sample(Object.keys(PARAMETERS), random.between(0, 5));
  return Object.fromEntries(names.map((name) => [name, random.pick(PARAMETERS[name] ?? [])]));
}

/** Returns a request of a client. Most of them are mutated. */
export function makeInstantRequest(random: Random, material: FuzzMaterial): Request {
  const caller = random.pick<Caller>(['anonymous', 'anonymous', 'site', 'full']);
  const index = random.pick(INDICES);
  const path = random.pick([
    '/1/indexes/*/queries',
    '/1/indexes/*/queries',
    `/1/indexes/${encodeURIComponent(index)}/query`,
    `/1/indexes/${encodeURIComponent(index)}/facets/${random.pick(['name', 'tags.name', 'stars', 'nope'])}/query`,
    '/1/events',
    '/1/indexes/%zz/query',
  ]);
  const query = () => ({ indexName: random.pick(INDICES), ...someParameters(random) });
  const body = path.endsWith('queries')
    ? { requests: Array.from({ length: random.pick([1, 1, 2, 4, 51]) }, query) }
    : someParameters(random);
  const json = JSON.stringify(random.chance(0.4) ? mutateJson(body, random) : body);
  const target = random.chance(0.2)
    ? mutateText(keyed(path, caller, material), random)
    : keyed(path, caller, material);
  const method = random.chance(0.95) ? 'POST' : random.pick(['GET', 'OPTIONS', 'PUT', 'HEAD']);
  const text = random.chance(0.2) ? mutateText(json, random) : json;
  return { kind: 'request', caller, method, bytes: sent(material, { method, target, body: text }) };
}

/** Returns the path with the key in the query string, where browsers put it. */
function keyed(path: string, caller: Caller, { tokens }: FuzzMaterial): string {
  const key = tokens[caller] ?? 'public';
  return `${path}?x-algolia-agent=fuzz&x-algolia-api-key=${key}&x-algolia-application-id=varve`;
}

type Sent = { readonly method: string; readonly target: string; readonly body: string };

function sent(material: FuzzMaterial, { method, target, body }: Sent): Uint8Array {
  const headers = ['Content-Type: text/plain'];
  return encode(material, {
    caller: 'anonymous',
    method,
    target,
    body: method === 'HEAD' ? '' : body,
    headers,
  });
}

type Surface = (name: string, way: readonly string[], random: Random) => Parameters;
const dotted = (way: readonly string[], name: string) => [...way, name].join('.');

/** Every parameter that can name an attribute. */
const SURFACES: readonly Surface[] = [
  (name, way) => ({ filters: `${dotted(way, name)}:1` }),
  (name, way) => ({ filters: `NOT ${dotted(way, name)}.name:a` }),
  (name, way, random) => ({ filters: `${dotted(way, name)} ${random.pick(['=', '>', '<=', '!='])} 1` }),
  (name, way) => ({ filters: `(name:x OR ${dotted(way, name)}:1 TO 2)` }),
  (name, way) => ({ facetFilters: [['name:x', `${dotted(way, name)}:-a`]] }),
  (name, way) => ({ numericFilters: [`${dotted(way, name)}=1`] }),
  (name, way) => ({ facets: ['name', dotted(way, name)] }),
  (name, way) => ({ facets: [dotted(way, `${name}.name`)] }),
  (name, way) => ({ type: 'facet', facet: dotted(way, name), facetQuery: 'a' }),
  (name, way) => ({ attributesToRetrieve: ['name', dotted(way, name)] }),
  (name) => ({ attributesToRetrieve: ['*', `-${name}`] }),
  (name, way) => ({ query: 'open', attributesToHighlight: [dotted(way, name)] }),
  (name, way) => ({ query: 'open', attributesToSnippet: [`${dotted(way, name)}:5`] }),
  (name, way) => ({ query: 'open', restrictSearchableAttributes: [dotted(way, name)] }),
];

/** Parameters that search for a text. */
const TEXTS: readonly ((text: string) => Parameters)[] = [
  (text) => ({ query: text }),
  (text) => ({ query: `open ${text}`, facets: ['name', 'stars'] }),
  (text) => ({ query: text, attributesToHighlight: ['name', 'description'], attributesToSnippet: ['*:3'] }),
  (text) => ({ query: text, restrictSearchableAttributes: ['name'] }),
  (text) => ({ filters: `name:${text} OR name:open`, facets: ['name'] }),
  (text) => ({ facetFilters: [`description:${text}`] }),
  (text) => ({ facetFilters: [`similar.name:-${text}`], facets: ['similar.name'] }),
  (text) => ({ type: 'facet', facet: 'name', facetQuery: text }),
  (text) => ({ type: 'facet', facet: 'parent.name', facetQuery: text }),
];

/** Prefixes of texts that the caller may not see. No answer repeats more of a request. */
const BEGINNINGS = Object.values(SECRETS).flatMap((secret) => [
  secret.split('-')[0] ?? '',
  secret.slice(0, 3),
]);

/** Returns a pair of requests: one names something that exists, the other something that does not. */
export function makeInstantProbe(random: Random, material: FuzzMaterial): Request {
  const caller = random.pick<Caller>(['anonymous', 'site']);
  const { name, other, body } = random.chance(0.6) ? namePair(random) : textPair(random);
  const bytesOf = (text: string) =>
    sent(material, {
      method: 'POST',
      target: keyed('/1/indexes/*/queries', caller, material),
      body: JSON.stringify({ requests: [body(text)] }),
    });
  return {
    ...{ kind: 'probe', caller, method: 'POST', bytes: bytesOf(name) },
    pair: { bytes: bytesOf(other), name, other, isRepeated: true },
  };
}

type NamedPair = {
  readonly name: string;
  readonly other: string;
  readonly body: (text: string) => Parameters;
};

function namePair(random: Random): NamedPair {
  const name = random.pick(HIDDEN);
  const way = random.pick(WAYS).split('.').filter(Boolean);
  const surface = random.pick(SURFACES);
  // Both requests get the same random numbers.
  const draws = random.between(0, 2 ** 31);
  const isSort = random.chance(0.1);
  return {
    name,
    other: `zq${'x'.repeat(name.length - 2)}`,
    body: (each) => ({
      indexName: isSort ? `restaurants:${dotted(way, each)}:asc` : 'restaurants',
      ...(isSort ? {} : surface(each, way, fixed(random, draws))),
    }),
  };
}

function textPair(random: Random): NamedPair {
  const name = random.pick(BEGINNINGS);
  const parameters = random.pick(TEXTS);
  const indexName = random.pick(['restaurants', 'restaurants', 'restaurants:name:desc']);
  // This text has the same length, and no document contains it.
  const other = `${name.slice(0, 2)}${'7'.repeat(name.length - 2)}`;
  return { name, other, body: (text) => ({ indexName, ...parameters(text) }) };
}
