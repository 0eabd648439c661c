import { expect, it } from 'vitest';
import { createCacheToken } from '../../services/access/cache-token.ts';
import type { AccessState, Token } from '../../shared/access/access-state.ts';
import { INITIAL_ACCESS } from '../../shared/access/access-state.ts';
import { FULL_ACCESS, type Right, type Rights } from '../../shared/access/rights.ts';
import { loadContentTypes } from '../../shared/schema/load-content-types.ts';

const loaded = loadContentTypes('test/conformance/schema');
if (loaded.kind === 'problems') throw new Error(JSON.stringify(loaded.problems));
const { registry } = loaded;
const custom = (allow: readonly string[], drafts = false): Rights => ({
  kind: 'custom',
  allowed: new Set(allow as Right[]),
  drafts,
});
const TAGS = ['api::tag.tag.find', 'api::tag.tag.findOne'];
const everything = [...registry.contentTypes.keys()].flatMap((uid) => [`${uid}.find`, `${uid}.findOne`]);

function stateOf(rights: Rights, publicRights: Rights, token: Partial<Token> = {}): AccessState {
  const times = { createdAt: '2026-01-01T00:00:00.000Z', expiresAt: null, revokedAt: null };
  const site: Token = { id: 'a', name: 'site', type: 'custom', rights, hash: '', ...times, ...token };
  return { ...INITIAL_ACCESS, development: false, tokens: new Map([['a', site]]), publicRights };
}

function tokenIn(first: AccessState) {
  let state = first;
  const refusals: string[] = [];
  const access = { state: () => state };
  const token = createCacheToken({ name: 'site', access, registry, refused: (why) => refusals.push(why) });
  const set = (next: AccessState): void => {
    state = next;
  };
  return { token, refusals, set };
}

it.each<[string, Rights, Rights, string | undefined]>([
  ['the same', custom(TAGS), custom(TAGS), undefined],
  ['less', custom(TAGS.slice(0, 1)), custom(TAGS), undefined],
  ['writes, which no cache keeps', custom([...TAGS, 'api::tag.tag.create']), custom(TAGS), undefined],
  ['all published content', { kind: 'read-only', drafts: false }, custom(everything), undefined],
  ['another type', custom([...TAGS, 'api::chef.chef.find']), custom(TAGS), 'api::chef.chef.find'],
  ['single entries', custom(TAGS), custom(TAGS.slice(0, 1)), 'api::tag.tag.findOne'],
  ['drafts', custom(TAGS, true), custom(TAGS), 'drafts'],
  ['drafts of everything', { kind: 'read-only', drafts: true }, custom(everything), 'drafts'],
  ['all types', { kind: 'read-only', drafts: false }, custom(TAGS), 'more): give'],
  ['what only full access sees', FULL_ACCESS, custom(everything), 'full access'],
])('compares a token that sees %s with the public', (_, rights, publicRights, more) => {
  const { token } = tokenIn(stateOf(rights, publicRights));
  expect(token.rights()).toBe(more === undefined ? rights : undefined);
  if (more === undefined) expect(token.problem()).toBeUndefined();
  else expect(token.problem()).toContain(more);
});

it.each([
  ['was revoked', { revokedAt: '2026-01-02T00:00:00.000Z' }],
  ['has expired', { expiresAt: '2026-01-02T00:00:00.000Z' }],
  ['has another name', { name: 'other' }],
])('finds no token that %s', (_, token) => {
  const found = tokenIn(stateOf(custom(TAGS), custom(TAGS), token)).token;
  expect([found.rights(), found.problem()]).toEqual([undefined, expect.stringContaining('no valid token')]);
});

it('makes answers private when public rights are removed, reports it once, and makes them public again', () => {
  const rights = custom(TAGS);
  const { token, refusals, set } = tokenIn(stateOf(rights, custom(TAGS)));
  expect(token.rights()).toBe(rights);
  set(stateOf(rights, custom([])));
  for (let i = 0; i < 3; i++) expect(token.rights()).toBeUndefined();
  expect(refusals).toEqual([expect.stringContaining('sees more than callers without a token')]);
  set(stateOf(rights, custom(TAGS)));
  expect(token.rights()).toBe(rights);
});
