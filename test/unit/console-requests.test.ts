import { describe, expect, it } from 'vitest';
import { filterQuery, OPERATOR_WORDS, parseFilterRows } from '../../services/console/browser/filter-rows.ts';
import { sendLines } from '../../services/console/browser/send-lines.ts';
import { OPERATORS } from '../../services/query/operators.ts';
import { parseQueryString } from '../../services/query/query-string.ts';

function textOf(rows: Parameters<typeof filterQuery>[0]): string {
  return filterQuery(rows)
    .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
    .join('&');
}

describe('the filter builder', () => {
  it('has a word for each operator of the API that compares', () => {
    expect(Object.keys(OPERATOR_WORDS).toSorted()).toEqual(Object.keys(OPERATORS).toSorted());
  });

  it.each([
    [[{ path: ['city', 'name'], operator: '$eq', value: 'Köln & more' }]],
    [[{ path: ['stars'], operator: '$in', value: '1, 2' }]],
    [[{ path: ['chef'], operator: '$null', value: '' }]],
    [
      [
        { path: ['name'], operator: '$contains', value: 'a' },
        { path: ['name'], operator: '$contains', value: 'b' },
      ],
    ],
  ])('writes a query string that the API parses, and reads it again: %j', (rows) => {
    const text = textOf(rows);
    expect(parseQueryString(text)['filters']).toBeDefined();
    expect(parseFilterRows(`http://localhost:1337/api/x?populate=*&${text}`)).toEqual(rows);
  });

  it('reads an attribute alone, and refuses what rows cannot express', () => {
    expect(parseFilterRows('filters[city][name]=Lisbon')).toEqual([
      { path: ['city', 'name'], operator: '$eq', value: 'Lisbon' },
    ]);
    expect(parseFilterRows('/api/x?sort=name')).toEqual([]);
    for (const text of [
      'filters[$or][0][a][$eq]=1',
      'filters[a][$not][$eq]=1',
      'filters[a][$eq][b]=1',
      'filters[a][$x]=1',
    ])
      expect([text, parseFilterRows(text)]).toEqual([text, undefined]);
  });
});

describe('how to send a request', () => {
  const path = "/api/restaurants?filters[name][$eq]=it's&populate[0]=city";

  it('quotes it for a shell, and names a variable for the token', () => {
    const [curl] = sendLines('http://127.0.0.1:1337', { method: 'GET', path }, true);
    expect(curl?.text).toBe(
      `curl -g 'http://127.0.0.1:1337/api/restaurants?filters[name][$eq]=it'\\''s&populate[0]=city' -H "Authorization: Bearer $VARVE_TOKEN"`,
    );
  });

  it("has the query as an object for Strapi's client, for reads of the content API only", () => {
    const client = (method: string, of: string) =>
      sendLines('http://h', { method, path: of }, false).find(({ name }) => name === '@strapi/client')?.text;
    expect(client('GET', path)).toContain(`client.collection('restaurants').find({
  "filters": {
    "name": {
      "$eq": "it's"
    }
  },
  "populate": {
    "0": "city"
  }
})`);
    expect(client('GET', '/api/restaurants/abc')).toContain("findOne('abc')");
    expect(client('DELETE', '/api/restaurants/abc')).toBeUndefined();
    expect(client('GET', '/_varve/state')).toBeUndefined();
  });

  it('sends a body as JSON', () => {
    const [curl, fetches] = sendLines(
      'http://h',
      { method: 'POST', path: '/api/a', body: { data: {} } },
      false,
    );
    expect(curl?.text).toBe(
      `curl -g -X POST 'http://h/api/a' -H 'content-type: application/json' -d '{"data":{}}'`,
    );
    expect(fetches?.text).toContain(`body: JSON.stringify({"data":{}})`);
  });
});
