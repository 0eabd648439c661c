import { describe, expect, it } from 'vitest';
import { describePagination } from '../../../services/query/pagination.ts';
import {
  planEntry,
  planRemoval,
  planUsersEntry,
  planUsersList,
  planWrite,
} from '../../../services/query/plan-query.ts';
import { planOf, refusalOf, requestOf } from '../../support/naive-schema.ts';

const message = (query: string, name?: string) => refusalOf(() => planOf(query, name)).message;

describe('sort', () => {
  const sort = (query: string) =>
    planOf(query).search.sort.map((key) =>
      'nearest' in key ? 'nearest' : `${[...key.path, key.field].join('.')} ${key.direction}`,
    );

  it.each([
    ['sort=stars:desc,key', ['stars desc', 'key asc']],
    ['sort=%20key%20,,stars:DESC', ['key asc', 'stars desc']],
    ['sort[]=stars&sort[]=', ['stars asc']],
    ['sort[key]=Desc', ['key desc']],
    ['sort[0][chef][name]=asc&sort[0][key]=desc', ['chef.name asc', 'key desc']],
    ['sort=chef.country.name:desc:asc', ['chef.country.name desc']],
    ['sort=hours.day', ['hours.day asc']],
    ['sort=status:desc&status=draft', ['$publication desc']],
    ['sort=status:desc,key', ['key asc']],
    ['sort=', []],
    ['sort=key: desc, stars:%20asc%20', ['key desc', 'stars asc']],
    ['sort=:asc,key,:', ['key asc']],
    ['sort[key]=%20desc%20&sort[stars]=', ['key desc']],
    ['sort[chef][name]', []],
    ['sort[0][foo]', []],
    ['sort=chef.name:', ['chef.name asc']],
    ['sort=chef:name:DESC', ['chef.name desc']],
    ['sort=chef..name.desc', ['chef.name desc']],
    ['sort=chef.%20country.name:asc:desc', ['chef.country.name asc']],
    ['sort[0][foo]=&sort[1][chef]', []],
    ['sort=key,stars,key:desc,stars', ['key asc', 'stars asc']],
    ['sort=tags.name,tags.name:desc,tags.name', ['tags.name asc', 'tags.name desc']],
    [`sort=${'chef.restaurants.'.repeat(10)}name`, [`${'chef.restaurants.'.repeat(10)}name asc`]],
  ])('%s', (query, wanted) => {
    expect(sort(query)).toEqual(wanted);
  });

  it.each([
    ['sort=foo', 'Invalid key foo'],
    ['sort[0]=key&sort[1][stars]=asc', 'Invalid key 0'],
    ['sort[0][stars]=asc&sort[1]=key', 'Invalid key 0'],
    [Array.from({ length: 101 }, (_, i) => `sort[${i}]=key`).join('&'), 'Invalid key 0'],
    ['sort[chef.name]=asc', 'Invalid key chef.name'],
    ['sort=key :asc', 'Invalid key key '],
    ['sort=chef.foo', 'Invalid key foo at chef'],
    ['sort=chef.salary', 'Invalid key salary at chef'],
    ['sort=chef', 'Invalid key chef'],
    ['sort=chef.', 'Invalid key chef'],
    ['sort=chef:asc', 'Invalid key asc at chef'],
    ['sort=sections.headline', 'Invalid key sections'],
    ['sort=status', 'Invalid key status'],
    ['sort=key:', 'Invalid order. order can only be one of asc|desc|ASC|DESC'],
    ['sort[key]=foo', 'Invalid order. order can only be one of asc|desc|ASC|DESC'],
    ['sort[foo]', 'Invalid key foo'],
    ['sort[foo]=&sort[key]=asc', 'Invalid key foo'],
    ['sort[status]', 'Invalid key status'],
    ['sort[chef]=', 'Invalid key chef'],
    ['sort[chef][foo]', 'Invalid key foo at chef'],
    ['sort[0][foo]&sort[1][key]=asc', 'Invalid key foo'],
    ['sort[0][foo]=%20', 'Invalid key foo'],
    ['sort[key]&sort[stars]=asc', 'Invalid sort type expected object or string got object'],
    ['sort[0][chef][name]&sort[1][key]=asc', 'Invalid sort type expected object or string got object'],
    ['sort=chef.name:asc:x', 'Invalid order. order can only be one of asc|desc|ASC|DESC'],
    ['sort=chef.:asc', 'Invalid key asc at chef'],
    ['sort[', 'Invalid key ['],
    ['sort=toString', 'Invalid sort query'],
    [
      `sort=chef.name,${'chef.restaurants.'.repeat(10)}name`,
      'Invalid sort parameter: its keys take 21 steps through relations, at most 20 are possible',
    ],
    ['sort=name.key', 'Invalid sort at name.key: name has no attributes'],
    ['sort=extra', 'Invalid sort at extra: extra is a json attribute'],
    ['sort[0][chef][]=name', 'Invalid sort type expected object or string got object'],
    ['sort[key][$eq]=asc', 'Invalid sort at key.$eq: key has no attributes'],
  ])('%s is refused', (query, wanted) => {
    expect(message(query)).toBe(wanted);
  });
});

describe('fields', () => {
  const fields = (query: string) => planOf(query).selection.fields;

  it('always shows id and documentId', () => {
    expect(fields('fields=name,stars')).toEqual(
      new Set(['id', 'documentId', '__component', 'name', 'stars']),
    );
    expect(fields('fields[1]=%20name')).toContain('name');
    expect([fields('fields=*'), fields('fields[]=*&fields[]=name'), fields('fields'), fields('')]).toEqual([
      null,
      null,
      null,
      null,
    ]);
  });

  it.each([
    ['fields=foo', 'Invalid key foo'],
    ['fields=*,foo', 'Invalid key foo'],
    ['fields=chef', 'Invalid key chef'],
    ['fields=chef.name', 'Invalid key chef.name'],
    ['fields=name,', 'Invalid key '],
    ['fields=toString', 'Invalid key toString'],
    ['fields[a]=name', 'Invalid fields parameter. Expected a string or an array of strings'],
    ['fields[]=name,key', 'Invalid fields parameter. Expected a string or an array of strings'],
    [
      Array.from({ length: 101 }, () => 'fields[]=name').join('&'),
      'Invalid fields parameter. Expected a string or an array of strings',
    ],
    ['fields[0][a]=name', 'Invalid fields parameter. Expected a string or an array of strings'],
  ])('%s is refused', (query, wanted) => {
    expect(message(query)).toBe(wanted);
  });
});

describe('pagination', () => {
  const meta = (query: string, total?: number) => describePagination(planOf(query).pagination, total);

  it.each([
    ['', 63, { page: 1, pageSize: 25, pageCount: 3, total: 63 }],
    ['pagination[page]=3&pagination[pageSize]=10', 63, { page: 3, pageSize: 10, pageCount: 7, total: 63 }],
    ['pagination[page]=1e1', 63, { page: 10, pageSize: 25, pageCount: 3, total: 63 }],
    ['pagination[page]=-1&pagination[pageSize]=0', 2, { page: 1, pageSize: 1, pageCount: 2, total: 2 }],
    ['pagination[pageSize]=101', 0, { page: 1, pageSize: 100, pageCount: 0, total: 0 }],
    ['pagination[start]=-1&pagination[limit]=-2', 5, { start: 0, limit: 1, total: 5 }],
    ['pagination[start]=', 5, { start: 0, limit: 25, total: 5 }],
    ['pagination[start]', 5, { start: 0, limit: 25, total: 5 }],
    ['pagination[page]&pagination[start]=30', 63, { page: 2, pageSize: 25, pageCount: 3, total: 63 }],
    ['pagination=5', 5, { page: 1, pageSize: 25, pageCount: 1, total: 5 }],
    ['pagination[]=5&page=&pageSize', 5, { page: 1, pageSize: 25, pageCount: 1, total: 5 }],
    ['pagination[withCount]=f', undefined, { page: 1, pageSize: 25 }],
    ['pagination[limit]=7&pagination[withCount]=0', undefined, { start: 0, limit: 7 }],
    ['start=5&limit=5&pagination[foo]=1', 5, { page: 1, pageSize: 25, pageCount: 1, total: 5 }],
  ])('%s', (query, total, wanted) => {
    expect(meta(query, total)).toEqual(wanted);
  });

  it.each([
    ['pagination[page]=abc', "Invalid parameter at 'start'. Expected integer >= 0, received: NaN"],
    ['pagination[start]=1.5', "Invalid parameter at 'start'. Expected integer >= 0, received: 1.5"],
    [
      'pagination[page]=99999999999999999999',
      "Invalid parameter at 'start'. Expected integer >= 0, received: 2.5e+21",
    ],
    ['pagination[pageSize]=', "Invalid parameter at 'limit'. Expected integer >= 1 or -1, received: "],
    ['pagination[withCount]', 'Invalid withCount parameter. Expected "t","1","true","false","0","f"'],
    ['pagination[pageSize]=1.5', "Invalid parameter at 'limit'. Expected integer >= 1 or -1, received: 1.5"],
    ['pagination[limit]=-1', "Invalid parameter at 'limit'. Expected integer >= 1 or -1, received: -1"],
    ['pagination[limit]=', "Invalid parameter at 'limit'. Expected integer >= 1 or -1, received: "],
    [
      'pagination[limit]=5&pagination[limit]=6',
      "Invalid parameter at 'limit'. Expected integer >= 1 or -1, received: 5,6",
    ],
    ['pagination[page]=1&pagination[limit]=5', 'Cannot use both page & offset pagination in the same query'],
    ['pagination[withCount]=', 'Invalid withCount parameter. Expected "t","1","true","false","0","f"'],
  ])('%s is refused', (query, wanted) => {
    expect(message(query)).toBe(wanted);
  });
});

describe('status, locale, publication and unknown parameters', () => {
  it.each(['locale[]=', 'locale[]', 'locale[0][a]=en', 'locale', 'locale='])(
    '%s gives no locale',
    (query) => {
      expect(planOf(query, 'topic').search.query).toEqual(planOf('', 'topic').search.query);
    },
  );

  it('refuse a list of locales for one document, but not to delete it', () => {
    const planned = (query: string, name = 'topic') => planEntry(requestOf(query, name));
    for (const [query, list] of [
      ['locale[]=en&locale[]=fr', 'en,fr'],
      ['locale[]=en', 'en'],
      ['locale[]=*&locale[]=', '*'],
    ] as const) {
      expect(refusalOf(() => planned(query)).message).toBe(
        `Invalid locale param ${list} provided. Document locales must be strings.`,
      );
      // Recorded from a localized single type of Strapi 5.54.
      const request = requestOf(query, 'topic');
      const single = { ...request, type: { ...request.type, kind: 'singleType' as const } };
      expect(refusalOf(() => planEntry(single)).message).toContain(`Invalid locale param ${list}`);
      expect(planned(query, 'tag').type.singularName).toBe('tag');
      expect(planRemoval(requestOf(query, 'topic')).locale.kind).toBe('any-of');
    }
    expect(planned('locale[]=').locale).toEqual({ kind: 'default' });
  });

  it('name a wrong publication filter first, then names, then mixed forms of pages', () => {
    const mixed = 'pagination[page]=1&pagination[start]=1&status=x';
    expect(message(`${mixed}&foo=1&publicationFilter=x`)).toContain('publicationFilter');
    expect(message(`${mixed}&foo=1`)).toBe('Invalid key foo');
    expect(message(mixed)).toBe('Cannot use both page & offset pagination in the same query');
    expect(planOf('publicationFilter&hasPublishedVersion').search.query).toEqual(planOf('').search.query);
  });

  it('select the published world unless drafts are requested, for any type', () => {
    expect(planOf('').search.world).toBe('published');
    expect(planOf('status=draft', 'category').search.world).toBe('draft');
  });

  it.each([
    ['status=', "Invalid parameter at 'status'. Expected 'published' or 'draft', received: "],
    ['status=DRAFT', "Invalid parameter at 'status'. Expected 'published' or 'draft', received: DRAFT"],
    [
      'status[$eq]=draft',
      "Invalid parameter at 'status'. Expected 'published' or 'draft', received: [object Object]",
    ],
    [
      'locale[]=en&locale[]=&locale[]=e',
      "Invalid parameter at 'locale[1]'. Locale must be a valid BCP 47 format (e.g. en, en-US, zh-Hans).",
    ],
    [
      'locale=en-1',
      "Invalid parameter at 'locale'. Locale must be a valid BCP 47 format (e.g. en, en-US, zh-Hans).",
    ],
    [
      'locale=en,fr',
      "Invalid parameter at 'locale'. Locale must be a valid BCP 47 format (e.g. en, en-US, zh-Hans).",
    ],
    [
      `locale=${'a'.repeat(36)}`,
      "Invalid parameter at 'locale'. Locale exceeds maximum length of 35 characters.",
    ],
    [
      'locale[$in][0]=fr',
      "Invalid parameter at 'locale'. Expected a string, array of strings, empty string, null, or undefined; received: object",
    ],
    [
      'hasPublishedVersion=1',
      "Invalid value for 'hasPublishedVersion'. Expected boolean or 'true'/'false' string.",
    ],
    [
      'publicationFilter=',
      "Invalid value for 'publicationFilter'. Expected one of: never-published, has-published-version, modified, unmodified, never-published-document, has-published-version-document, published-without-draft, published-with-draft.",
    ],
    ['foo', 'Invalid key foo'],
    ['toString=1', 'Invalid key toString'],
    ['publicationState=live', 'Invalid key publicationState'],
    ['_q[]=a', 'Invalid _q parameter'],
  ])('%s is refused', (query, wanted) => {
    expect(message(query)).toBe(wanted);
  });
});

describe('single entries and users', () => {
  it('filter a read of one entry, and ignore filters of a write', () => {
    expect(planEntry(requestOf('filters[locale]=fr', 'topic')).query).toEqual({
      kind: 'bool',
      filter: [
        { kind: 'term', field: 'locale', value: 'en' },
        { kind: 'term', field: 'locale', value: 'fr' },
      ],
    });
    expect(planEntry(requestOf('filters[stars]=3')).query).toEqual({
      kind: 'term',
      field: 'stars',
      value: 3,
    });
    expect(planWrite(requestOf('filters[stars]=3&status=draft'))).toMatchObject({
      query: { kind: 'match_all' },
      world: 'draft',
    });
    for (const query of ['populate=foo', 'filters=x', 'hasPublishedVersion=x', '_q[]=x', 'sort=stars:up'])
      expect(refusalOf(() => planWrite(requestOf(query))).code, query).toBe('invalid-query');
  });

  it.each([planEntry, planWrite, planRemoval])(
    'refuse malformed pages, which have no effect here',
    (plan) => {
      const valid = [
        'page=',
        'page',
        'page=2&pageSize=1',
        'start=0&limit=-1',
        'limit=1e3',
        'start[]=1',
        'page=1&start=',
      ];
      for (const query of valid) expect(plan(requestOf(query)).query, query).toEqual({ kind: 'match_all' });
      for (const [param, least, value, received] of [
        ['page', 1, '=0', '0'],
        ['page', 1, '[a]=1', '[object Object]'],
        ['pageSize', 1, '=1.5', '1.5'],
        ['pageSize', 1, '=1&pageSize=2', '1,2'],
        ['start', 0, '=-1', '-1'],
        ['start', 0, '=x', 'x'],
        ['limit', '1 or -1', '=0', '0'],
        ['limit', '1 or -1', '=-2', '-2'],
      ] as const) {
        const { code, message, details } = refusalOf(() => plan(requestOf(`${param}${value}`)));
        const accepted = `integer >= ${least}`;
        expect(message).toBe(`Invalid parameter at '${param}'. Expected ${accepted}, received: ${received}`);
        expect({ code, ...details }).toMatchObject({
          code: 'invalid-query',
          param,
          source: 'query',
          accepted,
        });
      }
      for (const query of ['page=1&start=1', 'pageSize=1&limit=x'])
        expect(refusalOf(() => plan(requestOf(query))).message).toMatch(/^Invalid pagination parameters/);
    },
  );

  it("accept Strapi's users dialect", () => {
    const plan = (query: string) => planUsersList(requestOf(query, 'plugin::users-permissions.user'));
    expect(plan('foo=1&pagination[pageSize]=2&populate=role').search).toMatchObject({
      from: 0,
      size: Number.POSITIVE_INFINITY,
      withTotal: false,
    });
    expect(plan('start=1&limit=2').search).toMatchObject({ from: 1, size: 2 });
    expect(refusalOf(() => plan('limit=-1')).code).toBe('invalid-query');
    expect(plan('page=2&pageSize=1').search.size).toBe(Number.POSITIVE_INFINITY);
    const one = (query: string) => planUsersEntry(requestOf(query, 'plugin::users-permissions.user'));
    for (const planned of [plan, one]) {
      for (const [name, value] of [
        ['page', 'abc'],
        ['page', ''],
        ['pageSize', '0'],
        ['pageSize', '1.5'],
      ])
        expect(refusalOf(() => planned(`${name}=${value}`))).toMatchObject({
          code: 'invalid-pagination',
          message: `Invalid '${name}' parameter. Expected an integer > 0, received: ${value}`,
          details: { param: name, found: value, accepted: 'an integer from 1' },
        });
      expect(refusalOf(() => planned('start=x')).details).toMatchObject({ param: 'start' });
      for (const query of ['page=1&start=1', 'pageSize=x&limit='])
        expect(refusalOf(() => planned(query)).message).toMatch(/^Invalid pagination attributes/);
      for (const filter of ['=x', '=', '[]=modified'])
        expect(refusalOf(() => planned(`publicationFilter${filter}&start=x&filters[foo]=1`)).message).toMatch(
          /^Invalid value for 'publicationFilter'/,
        );
      expect(planned('publicationFilter=modified&hasPublishedVersion=x')).toEqual(planned(''));
    }
    expect(refusalOf(() => plan('filters[password]=x')).message).toBe('Invalid key password');
  });
});
