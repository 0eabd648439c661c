import { expect, test } from 'vitest';
import { expandDeepObjects } from '../../services/http/pages/expand-deep-objects.ts';

const BASE = 'http://127.0.0.1:1337/docs';

function expanded(url: string): string {
  return decodeURIComponent(expandDeepObjects(url, BASE));
}

test.each([
  ['nested conditions', '/api/x?filters[a]={"b":{"$eq":"c"}}', '/api/x?filters[a][b][$eq]=c'],
  [
    'lists',
    '/api/x?filters[$or]=[{"a":1},{"b":null}]',
    '/api/x?filters[$or][0][a]=1&filters[$or][1][b]=null',
  ],
  [
    'populate',
    '/api/x?populate[a]={"fields":["b","c"]}',
    '/api/x?populate[a][fields][0]=b&populate[a][fields][1]=c',
  ],
  [
    'plain values',
    '/api/x?pagination[page]=2&sort=a:desc&sort=b',
    '/api/x?pagination[page]=2&sort=a:desc&sort=b',
  ],
  ['text that only looks like JSON', '/api/x?filters[a]={b', '/api/x?filters[a]={b'],
  ['JSON elsewhere', '/api/x?_q={"a":1}', '/api/x?_q={"a":1}'],
  ['no query', '/api/x', '/api/x'],
])('%s', (_name, url, expected) => {
  expect(expanded(url)).toBe(`http://127.0.0.1:1337${expected}`);
});

test('the same in a browser: the function works on its own', () => {
  const alone = new Function(`return (${expandDeepObjects.toString()})`)() as typeof expandDeepObjects;
  expect(decodeURIComponent(alone('/api/x?filters[a]={"b":"c"}', BASE))).toBe(
    'http://127.0.0.1:1337/api/x?filters[a][b]=c',
  );
});
