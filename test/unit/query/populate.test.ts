import { describe, expect, it } from 'vitest';
import type { PopulateNode } from '../../../services/query/selection.ts';
import { planOf, refusalOf } from '../../support/naive-schema.ts';

const nodes = (query: string, name?: string) => planOf(query, name).selection.populate;
const message = (query: string, name?: string) => refusalOf(() => planOf(query, name)).message;

/** `chef(country mentor)` */
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

  it('takes other locales for a relation of localized types, ordered by locale', () => {
    expect(nodes('populate=localizations', 'article')).toMatchObject([
      { attribute: 'localizations', sort: [{ path: [], field: 'locale', direction: 'asc' }] },
    ]);
  });

  it.each(['populate=sections.dishes.menus', 'populate[0]=sections.dishes.menus'])(
    'populates through a zone what its components have: %s',
    (query) => {
      const [zone] = nodes(query);
      if (zone?.kind !== 'zone') throw new Error('no zone');
      expect(outline([zone])).toBe('sections<blocks.hero blocks.quote blocks.teaser>');
      expect(outline(zone.components.get('blocks.teaser')?.selection.populate ?? [])).toBe('dishes(menus)');
      expect(zone.components.get('blocks.hero')?.selection.populate).toEqual([]);
    },
  );

  it('takes a component of a zone for * as for true', () => {
    expect(nodes('populate[sections][on][blocks.hero]=*')).toEqual(
      nodes('populate[sections][on][blocks.hero]=true'),
    );
  });

  it('takes true for nothing more behind a relation', () => {
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

  it('holds the publication filter at every level, for types with draft & publish', () => {
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
    ['populate=sections.headline', 'Invalid key headline at sections.headline'],
    ['populate=sections.dishes.nonsense', 'Invalid key nonsense at sections.dishes.nonsense'],
    ['populate[chef]=*', 'Invalid key awards at chef.awards'],
    ['populate[chef]=abc', 'Invalid key abc at chef'],
    ['populate[chef]=', 'Invalid key  at chef'],
    ['populate[chef]', 'Invalid key  at chef'],
    ['populate[chef][0]=name', 'Invalid key name at chef.name'],
    ['populate[foo]=false', 'Invalid key foo'],
    ['populate[chef][populate][foo]=true', 'Invalid key foo at chef'],
    ['populate[chef][populate]=foo', 'Invalid key foo'],
    ['populate[tags][populate]=', 'Invalid key  at tags'],
    ['populate[tags][limit]=1', 'Invalid key limit at tags'],
    ['populate[chef][locale]=fr', 'Invalid key locale at chef.locale'],
    ['populate[chef][fields]=foo', 'Invalid key foo'],
    ['populate[chef][filters][salary]=1', 'Invalid key salary'],
    ['populate[chef][filters]=abc', 'The filters parameter must be an object or an array'],
    ['populate[chef][sort]=salary', 'Invalid key salary'],
    ['populate[chef][sort]=country.name', 'Invalid sort at country.name: only own attributes sort here'],
    ['populate[chef][count]=many', 'Invalid count parameter. Expected a boolean'],
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
    ['populate[0][x]=chef', 'Invalid key 0'],
    ['populate[toString]=true', 'Invalid key toString'],
  ])('%s', (query, wanted) => {
    expect(message(query)).toBe(wanted);
  });

  it('refuses more than 100 entries in a list', () => {
    const list = (count: number) => Array.from({ length: count }, (_, i) => `populate[${i}]=chef`).join('&');
    expect(message(list(101))).toMatch(/^Too many populate entries \(101\)/);
    expect(nodes(list(100))).toHaveLength(1);
  });
});
