import { describe, expect, it } from 'vitest';
import { planOf, refusalOf } from '../../support/naive-schema.ts';

/** Requests with several problems, and the problem that a Strapi 5.54 names. */
const STATUS = "Invalid parameter at 'status'. Expected 'published' or 'draft', received: x";
const START = "Invalid parameter at 'start'. Expected integer >= 0, received: NaN";
const LOCALE =
  "Invalid parameter at 'locale'. Locale must be a valid BCP 47 format (e.g. en, en-US, zh-Hans).";
const DATE = 'Invalid format, expected yyyy-MM-dd';

describe('the first problem is that of Strapi', () => {
  it.each([
    // Parameters.
    ['populate=zzz&fields=yyy&sort=xxx&filters[foo]=1', 'Invalid key foo'],
    ['populate=zzz&fields=yyy&sort=xxx', 'Invalid key xxx'],
    ['filters[foo]=1&qqq=1', 'Invalid key qqq'],
    ['sort=name:foo&status=x', STATUS],
    ['sort=name:foo&pagination[page]=abc', START],
    ['hasPublishedVersion=x&locale=x_y', LOCALE],
    ['hasPublishedVersion=x&pagination[page]=x', START],
    ['pagination[withCount]=x&pagination[page]=abc', START],
    ['pagination[withCount]=x&filters[foundedOn]=abc', DATE],
    ['filters[foundedOn]=abc&sort=name:foo', 'Invalid order. order can only be one of asc|desc|ASC|DESC'],
    ['populate[chef][on][x]=1&populate[foo]=true', 'Invalid key foo'],
    ['fields[a]=name&populate=foo', 'Invalid key foo'],
    ['filters[stars]=abc&filters[foundedOn]=abc', DATE],
    ['filters[stars]=abc&pagination[withCount]=x', /^Invalid withCount parameter/],
    ['filters=abc&pagination[withCount]=x', 'The filters parameter must be an object or an array'],
    ['filters[tags][name]=x&filters[tags][$not][foo]=1', 'Invalid key foo at tags'],
    // Strapi checks one parameter in several passes.
    ['filters[createdBy][id]=1&filters[foo]=1', 'Invalid key foo'],
    ['filters[sections][x]=2&filters[foo]=1', 'Invalid key foo'],
    ['filters[createdBy]=1&filters[sections][x]=2', 'Invalid key sections'],
    ['sort=chef,bar', 'Invalid key bar'],
    ['sort=createdBy,sections', 'Invalid key sections'],
    ['populate[chef][filters][createdBy]=1&populate[chef][filters][foo]=1', 'Invalid key foo'],
    // Strapi checks the items of a list in parallel, and the names of an object one after the other.
    ['filters[$and][0][chef][foo]=1&filters[$and][1][bar]=2', 'Invalid key bar'],
    ['filters[chef][foo]=1&filters[bar]=2', 'Invalid key foo at chef'],
    ['filters[$or][0][name]=x&filters[$or][0][foo]=1&filters[$or][1][bar]=2', 'Invalid key bar'],
    ['filters[$or][0][foo]=1&filters[$or][1][bar]=2', 'Invalid key foo'],
    ['filters[$not][chef][foo]=1&filters[bar]=2', 'Invalid key foo at chef'],
    ['sort=chef.foo,bar', 'Invalid key bar'],
    ['sort[0]=chef.foo&sort[1]=bar', 'Invalid key bar'],
    ['sort[chef][foo]=asc&sort[bar]=asc', 'Invalid key foo at chef'],
    // Strapi checks the options of an attribute in the order of the request.
    ['populate[chef][fields]=abc&populate[chef][sort]=zzz', 'Invalid key abc'],
    ['populate[chef][sort]=zzz&populate[chef][fields]=abc', 'Invalid key zzz'],
  ])('%s', (query, message) => {
    expect(refusalOf(() => planOf(query)).message).toEqual(
      typeof message === 'string' ? message : expect.stringMatching(message),
    );
  });
});
