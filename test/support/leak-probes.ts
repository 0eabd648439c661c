import { createRandom } from './naive-random.ts';
import { asOf } from './past-requests.ts';

/** Documents with hidden values, the positions of the writes, and an instant to come at which a draft is published. */
export type Planted = {
  readonly id: string;
  readonly chef: string;
  readonly gone: string;
  readonly erased: string;
  readonly positions: readonly string[];
  readonly preview: string;
};

/** Ways from a restaurant to other restaurants and back. */
const HOPS = ['similar', 'parent', 'branches', 'category.restaurants', 'tags.restaurants'];
/** Hidden attributes of a restaurant: one that is private now, and a relation to a type that the caller may not find. */
const HIDDEN_PATHS = ['email', 'chef.name', 'chef.documentId', 'chef.restaurants.email'];

/** Returns the ways of these numbers of hops to a hidden value. */
function hiddenPaths(depths: readonly number[]): readonly string[] {
  const ways = (depth: number): readonly string[] =>
    depth === 0 ? [''] : ways(depth - 1).flatMap((way) => HOPS.map((hop) => `${way}${hop}.`));
  return depths.flatMap((depth) => ways(depth).flatMap((way) => HIDDEN_PATHS.map((path) => way + path)));
}

function bracketed(path: string): string {
  return path
    .split('.')
    .map((name) => `[${name}]`)
    .join('');
}

/** Returns the parameters that use or show the value at a path. */
function uses(path: string): readonly string[] {
  const names = path.split('.');
  const [last = '', holders] = [names.at(-1), names.slice(0, -1)];
  const populate = holders.map((name, at) => `${at === 0 ? 'populate' : '[populate]'}[${name}]`).join('');
  return [
    `filters${bracketed(path)}[$containsi]=zq`,
    `filters${bracketed(path)}[$notNull]=true`,
    `filters[$or][0]${bracketed(path)}[$startsWith]=zq`,
    `filters[$not]${bracketed(path)}[$eq]=x`,
    `sort=${path}:desc`,
    `facets=${path}`,
    `highlight=${path}&search=zq`,
    `distinct[${path}][limit]=1`,
    ...(holders.length === 0
      ? [`fields=${last}`, `fields[0]=name&fields[1]=${last}`]
      : [
          `${populate}[fields][0]=${last}`,
          `${populate}[filters][${last}][$containsi]=zq`,
          `${populate}[sort]=${last}`,
        ]),
    `populate=${holders.join('.') || '*'}`,
  ];
}

const WORDS = ['zqprivate', 'zqchef', 'zqdraft', 'zqerased'];
/** Parameters that name nothing hidden, and could show it. */
const WHOLE = [
  ...[
    '',
    'populate=*',
    'fields=*',
    'explain=true',
    'locale=*&populate=*',
    'pagination[cursor]=',
    'status=draft',
  ],
  ...[
    'populate[similar][populate]=*',
    'populate[parent][populate][branches]=*',
    'populate=deep',
    'facets=kind,name',
  ],
  ...[
    'publicationFilter=modified',
    'publicationFilter=never-published',
    'sort=name&pagination[pageSize]=100',
  ],
  ...WORDS.flatMap((word) => [
    `search=${word}`,
    `search=${word}&highlight=*`,
    `_q=${word}`,
    `filters[name]=${word}`,
  ]),
];
/** The historian of the probes may see no drafts: most probes name no world. */
const WORLDS = ['', '', '', 'status=published', 'status=draft'];

function joined(path: string, ...queries: readonly string[]): string {
  const query = queries.filter((each) => each !== '').join('&');
  if (query === '') return path;
  return `${path}${path.includes('?') ? '&' : '?'}${query}`;
}

/** Returns reads of the past: each parameter on each kind of path, at a moment and in a world that a random number chooses. */
function pastProbes({ id, chef, gone, erased, positions, preview }: Planted): readonly string[] {
  const random = createRandom(43);
  // After the hidden values were written, with all of them, and to come.
  const moments = [...[1, 3, 5, 6].map((at) => positions[at] ?? ''), preview];
  const entries = [id, gone, erased].map((each) => `/api/restaurants/${each}`);
  const others = [
    '/api/chefs',
    `/api/chefs/${chef}`,
    '/api/users',
    '/api/_changes',
    '/api/i18n/locales',
    '/api/dishes',
  ];
  const suggested = WORDS.flatMap((word) => [
    `q=${word.slice(0, 4)}`,
    `q=${word}&facets=email`,
    `q=zq&facets=chef.name`,
  ]);
  const reads = [
    ...hiddenPaths([0, 1, 2]).flatMap((path) =>
      uses(path).map((query) => ['/api/restaurants', query] as const),
    ),
    ...hiddenPaths([3]).flatMap((path) => [['/api/restaurants', random.pick(uses(path))] as const]),
    ...hiddenPaths([0, 1]).flatMap((path) =>
      uses(path).map((query) => [random.pick(entries), query] as const),
    ),
    ...HIDDEN_PATHS.flatMap((path) => uses(path).map((query) => ['/api/home', query] as const)),
    ...['/api/restaurants', '/api/home', ...entries, ...others, '/api/upload/files'].flatMap((path) =>
      WHOLE.map((query) => [path, query] as const),
    ),
    ...['restaurants', 'chefs', 'dishes'].flatMap((name) =>
      suggested.map((query) => [`/api/${name}/_suggest`, query] as const),
    ),
  ];
  return reads.map(([path, query]) => asOf(joined(path, query, random.pick(WORLDS)), random.pick(moments)));
}

/** Returns requests for versions, differences and deleted documents. */
function historyProbes({ id, chef, gone, erased, positions }: Planted): readonly string[] {
  const documents = [
    ...[id, gone, erased].map((each) => `/api/restaurants/${each}`),
    `/api/chefs/${chef}`,
    '/api/home',
  ];
  const paths = [
    ...['restaurants', 'chefs', 'dishes'].map((name) => `/api/${name}/_deleted`),
    ...documents.flatMap((path) => [
      `${path}/versions`,
      ...positions.flatMap((position) => [
        `${path}/versions/${position}`,
        `${path}/versions/${position}/diff?with=current`,
        `${path}/versions/${position}/diff?with=${positions[1]}&format=words`,
      ]),
    ]),
  ];
  const queries = [
    '',
    'status=draft',
    'locale=en',
    'populate=*',
    'filters[email][$notNull]=true',
    'sort=chef.name',
  ];
  return paths.flatMap((path) => queries.map((query) => joined(path, query)));
}

/** Returns different probes: requests that name or could show something hidden, as many of each kind as there are, up to a number. */
export function leakProbes(planted: Planted, count: number): readonly string[] {
  const random = createRandom(47);
  const seen: Record<string, number> = {};
  const ranked = [...new Set([...historyProbes(planted), ...pastProbes(planted)])]
    .map((probe) => [random.next(), probe] as const)
    .sort(([a], [b]) => a - b)
    .map(([, probe]) => {
      const kind = kindOf(probe);
      seen[kind] = (seen[kind] ?? 0) + 1;
      return [seen[kind], probe] as const;
    });
  return ranked
    .sort(([a], [b]) => a - b)
    .map(([, probe]) => probe)
    .slice(0, count);
}

/** Returns the path that a probe asks for, without ids. */
function kindOf(probe: string): string {
  const [path = ''] = probe.split('?', 1);
  return path.replace(/\/[a-z0-9]{24}\b/g, '/:id').replace(/\/\d+/g, '/:version');
}

/** Counts probes by kind. */
export function kindsOf(probes: readonly string[]): Readonly<Record<string, number>> {
  const kinds: Record<string, number> = {};
  for (const probe of probes) kinds[kindOf(probe)] = (kinds[kindOf(probe)] ?? 0) + 1;
  return kinds;
}
