import { describe, expect, it } from 'vitest';
import { checkDefaultPopulates } from '../../../services/query/default-populate.ts';
import { planEntry, planList, planWrite } from '../../../services/query/plan-query.ts';
import type { PopulateNode } from '../../../services/query/selection.ts';
import { buildRegistry } from '../../../shared/schema/build-registry.ts';
import { problemLine } from '../../../shared/schema/schema-problem.ts';
import { contentTypeOf, type SchemaRegistry } from '../../../shared/schema/schema-registry.ts';
import { planOf, refusalOf, requestOf } from '../../support/naive-schema.ts';

const nodes = (query: string, name?: string) => planOf(query, name).selection.populate;
const message = (query: string, name?: string) => refusalOf(() => planOf(query, name)).message;

/** Returns populate nodes in a short form such as `chef(country mentor)`. */
const outline = (list: readonly PopulateNode[]): string =>
  list
    .map((node) => {
      if (node.kind === 'zone') return `${node.attribute}<${[...node.components.keys()].join(' ')}>`;
      const inner = outline(node.selection.populate);
      return inner === '' ? node.attribute : `${node.attribute}(${inner})`;
    })
    .join(' ');

describe('forms', () => {
  it.each([
    ['populate', ''],
    ['populate=', ''],
    ['populate[]=', ''],
    ['populate=chef,%20category', 'chef category'],
    ['populate[0]=chef.country&populate[1]=chef.mentor', 'chef(country mentor)'],
    ['populate=address.geo', 'address(geo)'],
    ['populate[chef]=true&populate[tags]=f', 'chef'],
    ['populate[chef][populate]=country', 'chef(country)'],
    ['populate[chef][populate][country][populate][continent]=1', 'chef(country(continent))'],
    ['populate[address][populate]=*', 'address(geo country)'],
    ['populate=sections', 'sections<blocks.hero blocks.quote blocks.teaser>'],
    [
      'populate[sections][on][blocks.hero]=true&populate[sections][on][common.address]=true',
      'sections<blocks.hero>',
    ],
    [
      'populate=*',
      'logo gallery address hours sections<blocks.hero blocks.quote blocks.teaser> category chef menu tags reviews parent branches similar homeCountry',
    ],
  ])('%s', (query, wanted) => {
    expect(outline(nodes(query))).toBe(wanted);
  });

  it('populates localizations as a relation, ordered by locale', () => {
    expect(nodes('populate=localizations', 'article')).toMatchObject([
      { attribute: 'localizations', sort: [{ path: [], field: 'locale', direction: 'asc' }] },
    ]);
  });

  it.each(['populate=sections.dishes.menus', 'populate[0]=sections.dishes.menus'])(
    'populates relations of the components of a zone: %s',
    (query) => {
      const [zone] = nodes(query);
      if (zone?.kind !== 'zone') throw new Error('no zone');
      expect(outline([zone])).toBe('sections<blocks.hero blocks.quote blocks.teaser>');
      expect(outline(zone.components.get('blocks.teaser')?.selection.populate ?? [])).toBe('dishes(menus)');
      expect(zone.components.get('blocks.hero')?.selection.populate).toEqual([]);
    },
  );

  it.each(['=*', '=false', '[count]=true'])('accepts %s like true for a component of a zone', (option) => {
    expect(nodes(`populate[sections][on][blocks.hero]${option}`)).toEqual(
      nodes('populate[sections][on][blocks.hero]=true'),
    );
  });

  it('lists no component for a content type, and each one without a list', () => {
    const kinds = (query: string) =>
      nodes(query).map((node) => (node.kind === 'zone' ? [...node.components.keys()] : []));
    expect(kinds('populate[sections][on][api::dish.dish]=true')).toEqual([[]]);
    expect(kinds('populate[sections][on]')).toEqual(kinds('populate=sections'));
    expect(kinds('populate=sections.headline')).toEqual(kinds('populate=sections'));
  });

  it('refuses empty names between dots', () => {
    for (const path of ['chef.', '.chef', ' chef . '])
      expect(outline(nodes(`populate=${path}`)), path).toBe('chef');
    expect(outline(nodes('populate=chef..country'))).toBe('chef(country)');
  });

  it('shows files and other locales instead of counting them', () => {
    const countOnly = (query: string, name?: string) =>
      nodes(query, name).map((node) => node.kind !== 'zone' && node.countOnly);
    expect(countOnly('populate[gallery][count]=true')).toEqual([false]);
    expect(countOnly('populate[localizations][count]=true', 'topic')).toEqual([false]);
    expect(countOnly('populate[tags][count]=true')).toEqual([true]);
  });

  it('accepts * for a relation or component with nothing to populate', () => {
    expect(nodes('populate[hours]=*')).toEqual(nodes('populate[hours]=true'));
    expect(nodes('populate[address][populate][geo]=*')).toEqual(nodes('populate=address.geo'));
  });

  it('populates nothing after a relation with true', () => {
    expect(nodes('populate[chef][populate]=true')).toEqual(nodes('populate[chef]=true'));
  });

  it('populates inside zones', () => {
    const [zone] = nodes('populate[sections][populate]=*');
    if (zone?.kind !== 'zone') throw new Error('no zone');
    expect(outline(zone.components.get('blocks.teaser')?.selection.populate ?? [])).toBe('dishes');
    expect(zone.components.get('blocks.hero')?.selection.populate).toEqual([]);
  });
});

describe('options', () => {
  it('filters, sorts, selects and counts', () => {
    const query =
      'populate[tags][filters][weight][$gt]=1&populate[tags][sort]=name:desc&populate[tags][fields][0]=weight';
    expect(nodes(query)).toMatchObject([
      {
        query: { kind: 'range', field: 'weight', gt: 1 },
        sort: [{ path: [], field: 'name', direction: 'desc' }],
        selection: { fields: new Set(['id', 'documentId', '__component', 'weight', 'name']) },
      },
    ]);
    expect(nodes('populate[tags][count]=true')).toMatchObject([{ countOnly: true }]);
    expect(nodes('populate[tags][filters]=&populate[tags][sort]=')).toMatchObject([
      { query: { kind: 'match_all' }, sort: [] },
    ]);
  });

  it('applies the publication filter at every level, to types with draft & publish', () => {
    const modified = { kind: 'term', field: '$publication', value: 'modified' };
    const all = { kind: 'match_all' };
    expect(nodes('publicationFilter=modified&populate=chef.country,category.restaurants')).toMatchObject([
      { attribute: 'chef', query: modified, selection: { populate: [{ attribute: 'country', query: all }] } },
      {
        attribute: 'category',
        query: all,
        selection: { populate: [{ attribute: 'restaurants', query: modified }] },
      },
    ]);
  });

  it('filters the components of one kind in a zone', () => {
    const [zone] = nodes('populate[sections][on][blocks.quote][filters][author]=Anna');
    expect(zone).toMatchObject({ kind: 'zone' });
    if (zone?.kind !== 'zone') throw new Error('no zone');
    expect(zone.components.get('blocks.quote')?.query).toEqual({
      kind: 'term',
      field: 'author',
      value: 'Anna',
    });
  });
});

describe('deep', () => {
  const planDeep = (query: string, name?: string) =>
    planList({ ...requestOf(query, name), populateDeep: true });
  const nodes = (query: string, name?: string) => planDeep(query, name).selection.populate;

  it('is an ordinary name if populate=deep is not accepted, as in the corpus', () => {
    expect(refusalOf(() => planOf('populate=deep')).message).toBe('Invalid key deep');
  });

  it('populates in one level what * populates', () => {
    for (const name of ['restaurant', 'category', 'chef', 'review'])
      expect(nodes('populate=deep:1', name)).toEqual(nodes('populate=*', name));
  });

  it('populates nothing below a type on the way, and five levels of others', () => {
    const types = (list: readonly PopulateNode[], way: readonly string[]): number =>
      Math.max(
        way.length - 1,
        ...list.flatMap((node) => {
          if (node.kind === 'zone')
            return [...node.components.values()].map(({ selection }) => types(selection.populate, way));
          if (node.kind === 'relation' && way.includes(node.target)) {
            expect(node.selection).toEqual({ fields: null, populate: [] });
            return [way.length];
          }
          return [types(node.selection.populate, [...way, node.target])];
        }),
      );
    expect(types(nodes('populate=deep'), ['api::restaurant.restaurant'])).toBe(5);
    expect(outline(nodes('populate=deep:2', 'category'))).toContain('parent children');
  });

  it.each([
    ['populate=deep', 5],
    ['populate=deep,3', 3],
    ['populate[0]=deep', 5],
    ['populate[]=deep', 5],
    ['populate[0]=deep&populate[1]=3', 3],
    ['populate=deep&populate=3', 3],
    ['populate[0]=deep,3', 3],
    ['populate=deep:3', 3],
    ['pLevel', 5],
    ['pLevel=', 5],
    ['pLevel=3', 3],
    ['pLevel=x', 5],
    ['pLevel=2&populate=chef', 2],
  ])('reads the levels of %s', (query, levels) => {
    expect(nodes(query, 'review')).toEqual(nodes(`populate=deep:${levels}`, 'review'));
    expect(nodes(query, 'review')).not.toEqual(nodes(`populate=deep:${levels - 1}`, 'review'));
  });

  it('refuses other names next to deep, and objects in the list', () => {
    for (const query of ['populate[0]=deep&populate[1]=chef', 'populate[0]=chef&populate[1]=deep'])
      expect(refusalOf(() => planDeep(query)).message).toBe('Invalid key deep');
    for (const query of ['populate[0]=deep&populate[1][a]=b', 'populate[0][a]=deep'])
      expect(refusalOf(() => planDeep(query)).message).toBeTruthy();
  });

  it('refuses pLevel where unknown parameters are refused', () => {
    expect(refusalOf(() => planOf('pLevel=3')).message).toBe('Invalid key pLevel');
  });

  it('omits types that the caller may not find', () => {
    const request = { ...requestOf('populate=deep:2'), populateDeep: true };
    const mayFind = (type: string) => type !== 'api::chef.chef';
    const { populate } = planList({ ...request, mayFind }).selection;
    expect(JSON.stringify(populate, (_, value) => (value instanceof Map ? [...value] : value))).not.toContain(
      'api::chef.chef',
    );
  });

  it('populates at most ten levels, and nothing in no level', () => {
    expect(nodes('populate=deep:0')).toEqual([]);
    expect(nodes('populate=deep:999', 'review')).toEqual(nodes('populate=deep:10', 'review'));
  });

  it('populates fewer levels than those with more than 1,000 attributes', () => {
    const relations = (n: number) =>
      Object.fromEntries(
        Array.from({ length: 12 }, (_, i) => [
          `r${i}`,
          {
            type: 'relation',
            relation: 'oneToOne',
            target: `api::t${(n + i + 1) % 12}.t${(n + i + 1) % 12}`,
          },
        ]),
      );
    const { registry } = buildRegistry(
      Array.from({ length: 12 }, (_, n) => ({
        model: 'contentType',
        file: `t${n}.json`,
        namespace: `api::t${n}`,
        json: { info: { singularName: `t${n}`, pluralName: `t${n}s` }, attributes: relations(n) },
      })),
    );
    const request = (levels: number) => ({
      ...{ registry, type: contentTypeOf(registry, 'api::t0.t0'), defaultLocale: 'en' },
      ...{ queryString: `populate=deep:${levels}`, populateDeep: true },
    });
    const of = (levels: number) => planList(request(levels)).selection.populate;
    expect(of(2)).toHaveLength(12);
    expect(of(2)).not.toEqual(of(1));
    expect(of(3)).toEqual(of(2));
    expect(of(8)).toEqual(of(2));
  });
});

describe('a path through dynamic zones whose components lead back', () => {
  const components = Array.from({ length: 10 }, (_, n) => `block.b${n}`);
  const link = { type: 'relation', relation: 'oneToOne', target: 'api::page.page' };
  const { registry } = buildRegistry([
    ...components.map((uid) => ({
      ...({ model: 'component', file: `${uid}.json`, uid } as const),
      json: { collectionName: uid, info: { displayName: uid }, attributes: { link } },
    })),
    {
      ...({ model: 'contentType', file: 'page.json', namespace: 'api::page' } as const),
      json: {
        info: { singularName: 'page', pluralName: 'pages' },
        attributes: { zone: { type: 'dynamiczone', components } },
      },
    },
  ]);
  const request = (levels: number, end = '') => ({
    ...{ registry, type: contentTypeOf(registry, 'api::page.page'), defaultLocale: 'en' },
    queryString: `populate=${Array.from({ length: levels }, () => 'zone.link').join('.')}${end}`,
  });

  it('populates in every component', () => {
    expect(planList(request(3)).selection.populate).toHaveLength(1);
  });

  // Without the limit there would be 10^8 attributes, and the process would not answer.
  it.each(['', '.nonsense'])('is refused beyond a number of attributes: …%s', (end) => {
    expect(refusalOf(() => planList(request(8, end))).message).toBe(
      'Invalid populate parameter: it populates more than 10000 attributes',
    );
  });
});

describe('default populate', () => {
  const registryWith = (defaultPopulate: object) => {
    const part = (singularName: string, attributes: object, pluginOptions = {}) => ({
      ...({ model: 'contentType', file: `${singularName}.json`, namespace: `api::${singularName}` } as const),
      json: { info: { singularName, pluralName: `${singularName}s` }, pluginOptions, attributes },
    });
    const relation = (name: string) => ({
      type: 'relation',
      relation: 'oneToOne',
      target: `api::${name}.${name}`,
    });
    const attributes = { author: relation('author'), topic: relation('topic') };
    return buildRegistry([
      part('post', attributes, { varve: { defaultPopulate } }),
      part('author', { name: { type: 'string' }, topic: relation('topic') }),
      part('topic', { name: { type: 'string' } }),
    ]).registry;
  };
  const request = (registry: SchemaRegistry, queryString: string) => ({
    ...{ registry, type: contentTypeOf(registry, 'api::post.post'), queryString, defaultLocale: 'en' },
  });
  const registry = registryWith({
    find: { author: { fields: ['name'], populate: { topic: true } } },
    findOne: ['author', 'topic'],
  });

  it('applies to each action if the request has no populate', () => {
    expect(outline(planList(request(registry, '')).selection.populate)).toBe('author(topic)');
    expect(outline(planEntry(request(registry, '')).selection.populate)).toBe('author topic');
    expect(outline(planList(request(registry, 'populate=topic')).selection.populate)).toBe('topic');
    expect(planList(request(registry, 'populate=')).selection.populate).toEqual([]);
    expect(planWrite(request(registry, '')).selection.populate).toEqual([]);
  });

  it('omits types that the caller may not find, instead of a refusal', () => {
    const mayFind = (type: string) => type !== 'api::author.author';
    expect(outline(planEntry({ ...request(registry, ''), mayFind }).selection.populate)).toBe('topic');
  });

  it('is checked for every type at once', () => {
    expect(checkDefaultPopulates(registry)).toEqual([]);
    const wrong = registryWith({ find: ['nonsense'], findOne: { author: { populate: 'nope' } } });
    expect(checkDefaultPopulates(wrong).map(problemLine)).toEqual([
      'api::post.post $.pluginOptions.varve.defaultPopulate.find: Invalid key nonsense',
      'api::post.post $.pluginOptions.varve.defaultPopulate.findOne: Invalid key nope',
    ]);
  });
});

describe('refusals', () => {
  it.each([
    ['populate=foo', 'Invalid key foo'],
    ['populate=name', 'Invalid key name'],
    ['populate=*,chef', 'Invalid key *'],
    ['populate[0]=*', 'Invalid key *'],
    ['populate[*]=true', 'Invalid key *'],
    ['populate=createdBy', 'Invalid key createdBy'],
    ['populate=localizations', 'Invalid key localizations'],
    ['populate=chef.foo', 'Invalid key foo at chef.foo'],
    ['populate=chef.name', 'Invalid key name at chef.name'],
    ['populate=sections.nonsense', 'Invalid key nonsense at sections.nonsense'],
    ['populate=sections.headline.x', 'Invalid key headline at sections.headline'],
    ['populate=sections.dishes.nonsense', 'Invalid key dishes at sections.dishes'],
    ['populate[sections][on][blocks.hero]=x', 'Invalid key x at sections'],
    ['populate=logo.name', 'Invalid key logo'],
    ['populate=branches.logo.folder', 'Invalid key logo at branches.logo'],
    ['populate[logo][populate]=folder', 'Invalid key folder'],
    ['populate[logo][populate]=folderPath', 'Invalid key folderPath'],
    ['populate[chef]=*', 'Invalid key awards at chef.awards'],
    ['populate[logo]=*', 'Invalid key * at logo'],
    ['populate[hours][0]=*', 'Invalid key * at hours'],
    ['populate[chef]=abc', 'Invalid key abc at chef'],
    ['populate[chef]=', 'Invalid key  at chef'],
    ['populate[chef]', 'Invalid key  at chef'],
    ['populate[chef][0]=name', 'Invalid key name at chef.name'],
    ['populate[foo]=false', 'Invalid key foo'],
    ['populate[chef][populate][foo]=true', 'Invalid key foo at chef'],
    ['populate[chef][populate]=foo', 'Invalid key foo'],
    ['populate[tags][populate]=', 'Invalid key  at tags'],
    ['populate[chef][populate]=mentor,awards', 'Invalid key mentor,awards at chef'],
    ['populate[chef][populate][0]=mentor.country,awards', 'Invalid key country,awards at chef.mentor'],
    ['populate[chef][populate]=%20mentor', 'Invalid key  mentor at chef'],
    ['populate[chef][populate]=mentor..awards', 'Invalid key  at chef.mentor'],
    ['populate[chef][populate][]=', 'Invalid key  at chef'],
    ['populate[chef][populate]=foo,awards', 'Invalid key foo'],
    ['populate[sections][on][blocks.teaser][populate]=dishes,x', 'Invalid key x'],
    ['populate[chef][populate]=createdBy', 'Invalid key createdBy'],
    ['populate[chef][0]=true', "Invalid nested populate. Expected '*' or an object"],
    ['populate[chef][0][fields]=name', "Invalid nested populate. Expected '*' or an object"],
    ['populate[chef][0]=true&populate[chef][1]=name', 'Invalid key name at chef.name'],
    ['populate[tags][limit]=1', 'Invalid key limit at tags'],
    ['populate[chef][locale]=fr', 'Invalid key locale at chef.locale'],
    ['populate[chef][fields]=foo', 'Invalid key foo'],
    ['populate[chef][filters][salary]=1', 'Invalid key salary'],
    ['populate[chef][filters]=abc', 'The filters parameter must be an object or an array'],
    ['populate[chef][sort]=salary', 'Invalid key salary'],
    ['populate[chef][sort]=country.name', 'Invalid sort at country.name: only own attributes sort here'],
    ['populate[chef][count]=many', 'Invalid key count at chef'],
    [
      'populate[chef][on][api::chef.chef]=true',
      'Using fragments is not permitted to populate "chef" in "api::restaurant.restaurant"',
    ],
    [
      'populate[sections]=*',
      'Invalid nested populate for restaurant.sections (api::restaurant.restaurant). Expected a fragment ("on") or "count" but found "*"',
    ],
    ['populate[sections][populate][dishes]=true', 'Invalid key populate at sections'],
    ['populate[sections][on]=true', 'Invalid key on at sections.on'],
    ['populate[sections][on][blocks.nope]=true', 'Invalid key blocks.nope at sections.on'],
    [
      'populate[0][x]=chef',
      'Invalid populate parameter. Expected a string, an array of strings, a populate object',
    ],
    ['populate[toString]=true', 'Invalid key toString'],
    ['populate[]', 'Invalid populate parameter. Expected a string, an array of strings, a populate object'],
    ['populate[tags][count]', 'Invalid key count at tags'],
    ['populate[tags][count]=', 'Invalid key count at tags'],
  ])('%s', (query, wanted) => {
    expect(message(query)).toBe(wanted);
  });

  it('refuses more than 100 entries in a list', () => {
    const list = (count: number) => Array.from({ length: count }, (_, i) => `populate[${i}]=chef`).join('&');
    expect(message(list(101))).toMatch(/^Too many populate entries \(101\)/);
    expect(nodes(list(100))).toHaveLength(1);
  });
});
