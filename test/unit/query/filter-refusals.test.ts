import { describe, expect, it } from 'vitest';
import { OPERATORS } from '../../../services/query/operators.ts';
import { planList } from '../../../services/query/plan-query.ts';
import { planOf, refusalOf, requestOf } from '../../support/naive-schema.ts';

const refusal = (query: string, name?: string) => refusalOf(() => planOf(query, name));

describe('names', () => {
  it.each([
    ['filters[foo]=1', 'Invalid key foo', 'foo', null],
    ['filters[chef][foo]=1', 'Invalid key foo at chef', 'foo', 'chef'],
    ['filters[name][foo]=1', 'Invalid key foo at name', 'foo', 'name'],
    [
      'filters[chef][country][name][$foo]=1',
      'Invalid key $foo at chef.country.name',
      '$foo',
      'chef.country.name',
    ],
    ['filters[$or][0][foo]=1', 'Invalid key foo', 'foo', null],
    ['filters[$OR][0][stars]=1', 'Invalid key $OR', '$OR', null],
    ['filters[tags][$every][name]=x', 'Invalid key $every at tags', '$every', 'tags'],
    ['filters[sections]=1', 'Invalid key sections', 'sections', 'sections'],
    [
      'filters[logo][folderPath]=1',
      'Invalid key folderPath at logo.folderPath',
      'folderPath',
      'logo.folderPath',
    ],
    ['filters[logo][related]=1', 'Invalid key related at logo.related', 'related', 'logo.related'],
    [
      'filters[extra][$jsonSupersetOf]={}',
      'Invalid key $jsonSupersetOf at extra',
      '$jsonSupersetOf',
      'extra',
    ],
    ['filters[constructor]=1', 'Invalid key constructor', 'constructor', null],
    ['filters[chef.name]=x', 'Invalid key chef.name', 'chef.name', null],
    ['filters[id][$EQ]=1', 'Invalid key $EQ', '$EQ', null],
    ['filters[chef][documentId][$EQ]=1', 'Invalid key $EQ at chef', '$EQ', 'chef'],
  ])('%s', (query, message, key, path) => {
    const { code, details, message: said } = refusal(query);
    expect([code, said]).toEqual(['invalid-query', message]);
    expect(details).toMatchObject({ key, path, source: 'query', param: 'filters', found: key });
    expect(details['accepted']).not.toHaveLength(0);
  });

  it('are refused with the path, the found value and the accepted ones', () => {
    expect(refusal('filters[chef][$and][0][age][$foo]=1').details).toMatchObject({
      at: 'filters[chef][$and][0][age][$foo]',
      found: '$foo',
      accepted: expect.arrayContaining(['$eq', '$between', '$not']),
    });
    expect(refusal('filters[chef][foo]=1').details['accepted']).toContain('country');
    expect(refusal('filters[chef][foo]=1').details['accepted']).not.toContain('salary');
  });

  it('include indices of lists above 100 entries without an operator, as in Strapi', () => {
    const stars = (count: number) =>
      Array.from({ length: count }, (_, i) => `filters[stars][${i}]=${i}`).join('&');
    expect(refusal(stars(101)).message).toBe('Invalid key 0 at stars');
    expect(planOf(stars(100)).search.query).toMatchObject({ kind: 'terms' });
    expect(planOf(stars(900).replaceAll('[stars]', '[stars][$in]')).search.query).toMatchObject({
      kind: 'terms',
    });
  });

  it('include the first unknown name in a value of a list', () => {
    expect(refusal('filters[stars][$in][0]=1&filters[stars][$in][1][b]=1').message).toBe(
      'Invalid key b at stars',
    );
    expect(refusal('filters[chef][name][$eq][0][a]=1').message).toBe('Invalid key a at chef.name');
  });

  it('exclude relations to types that the caller may not find', () => {
    const mayFind = (type: string) => type !== 'api::chef.chef';
    for (const query of [
      'filters[chef][name]=x',
      'sort=chef.name',
      'populate=chef',
      'filters[menu][restaurant][chef]=1',
    ]) {
      expect(refusalOf(() => planList({ ...requestOf(query), mayFind })).message).toMatch(
        /^Invalid key chef/,
      );
    }
    const everything = planList({ ...requestOf('populate=*'), mayFind }).selection.populate;
    expect(everything.map((node) => node.attribute)).not.toContain('chef');
  });
});

describe('shapes and operands', () => {
  it.each([
    'filters[$or]=3',
    'filters[$or][stars]=3',
    'filters[$or][a][stars]=3',
    'filters[$and]',
    'filters[$and][]=',
    'filters[$not]=3',
    'filters[$eq]=3',
    'filters[0][stars]=3',
    'filters[stars][$in][a]=3',
    'filters[stars][$eq][$gt]=3',
    'filters[stars]=3&filters[stars][$gt]=1',
    'filters[name][$or][0][$eq]=a',
    'filters[stars][$between]=3',
    'filters[stars][$between][]=3',
    'filters[stars][$between][]=1&filters[stars][$between][]=2&filters[stars][$between][]=3',
    'filters[name][$null]=yes',
    'filters[name][$null][]=true',
    'filters[stars][$contains]=3',
    'filters[extra][$gt]=1',
    'filters[extra]={bad',
    'filters[name]=a%00b',
    'filters[chef]=abc',
    'filters[chef][$not][$null]=true',
    'filters[chef][$not][name]=x',
    'filters[tags][$notNull]=true&filters[tags][name]=x',
    'filters[chef][$or][0][name]=x&filters[chef][age]=3',
    'filters[hours][0][day]=mon',
  ])('%s is refused', (query) => {
    const { code, details } = refusal(query);
    expect(code).toBe('invalid-query');
    expect(details).toHaveProperty('found');
    expect(details).toHaveProperty('accepted');
  });

  it('a common mistake is refused with the correct form', () => {
    expect(refusal('filters[chef]=Ada').message).toMatch(/^Invalid integer Ada: .*documentId/);
    expect(refusal('filters[chef][$in][]=Ada').message).toMatch(/^Invalid integer Ada: .*documentId/);
    expect(refusal('filters[stars]=3&filters[stars][$gt]=1').message).toMatch(/as \[\$eq\]$/);
  });

  it('every operator refuses an object', () => {
    for (const operator of Object.keys(OPERATORS)) {
      expect(refusal(`filters[name][${operator}][x]=1`).message).toBe(`Invalid operand of ${operator}`);
    }
  });

  it('reports every problem, unknown names before bad values', () => {
    const { message, details } = refusal('filters[foundedOn]=abc&filters[foo]=1&sort=bar&status=x&baz=1');
    expect(message).toBe('Invalid key baz');
    const problems = details['problems'] as { message: string }[];
    expect(problems.map((problem) => problem.message)).toEqual([
      'Invalid key baz',
      'Invalid key foo',
      'Invalid key bar',
      "Invalid parameter at 'status'. Expected 'published' or 'draft', received: x",
      'Invalid format, expected yyyy-MM-dd',
    ]);
  });
});
