import { expect, it } from 'vitest';
import { createConcealBody } from '../../services/http/forwarding/secret-bodies.ts';
import { buildRegistry } from '../../shared/schema/build-registry.ts';

const type = (name: string, kind: string, attributes: object) => ({
  ...{ model: 'contentType' as const, file: `${name}.json`, namespace: `api::${name}` },
  json: { kind, info: { singularName: name, pluralName: `${name}s`, displayName: name }, attributes },
});
const { registry, problems } = buildRegistry([
  type('door', 'collectionType', { locks: { type: 'component', component: 'parts.lock', repeatable: true } }),
  type('safe', 'singleType', { code: { type: 'password' } }),
  type('note', 'collectionType', { text: { type: 'string' } }),
  {
    ...{ model: 'component', file: 'lock.json', uid: 'parts.lock' },
    json: { info: { displayName: 'Lock' }, attributes: { code: { type: 'password' } } },
  },
]);
const conceal = createConcealBody(registry, Buffer.from('a key of this test'));

it.each(['/api/users', '/api/users/1?x=1', '/api/Doors/abc', '/api/safe'])('conceals bodies of %s', (url) => {
  expect(problems).toEqual([]);
  expect(conceal(url, 'secret')).toMatch(/^[0-9a-f]{64}$/);
  expect(conceal(url, 'secret')).toBe(conceal(url, 'secret'));
  expect(conceal(url, 'secret')).not.toBe(conceal(url, 'other'));
  const others = createConcealBody(registry, Buffer.from('another key'));
  expect(others(url, 'secret')).not.toBe(conceal(url, 'secret'));
});

it.each(['/api/notes', '/api/upload', '/api/safes', '/'])('does not change bodies of %s', (url) => {
  expect(conceal(url, 'body')).toBe('body');
});
