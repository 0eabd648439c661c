import { describe, expect, test } from 'vitest';
import { parseAllow, shortRight } from '../../../shared/access/parse-allow.ts';
import {
  ACTIONS,
  type Action,
  FULL_ACCESS,
  may,
  mayAdminister,
  mayReadDrafts,
  NO_RIGHTS,
  type Right,
  type Rights,
  rightsKey,
} from '../../../shared/access/rights.ts';
import { visibleRegistry } from '../../../shared/access/visible-registry.ts';
import { loadContentTypes } from '../../../shared/schema/load-content-types.ts';
import { contentTypeOf } from '../../../shared/schema/schema-registry.ts';

const loaded = loadContentTypes('test/conformance/schema');
if (loaded.kind === 'problems') throw new Error('the conformance schema does not load');
const { registry } = loaded;

const RESTAURANT = 'api::restaurant.restaurant';
const READER: Rights = { kind: 'read-only', drafts: false };

function custom(...allowed: Right[]): Rights {
  return { kind: 'custom', allowed: new Set(allowed), drafts: false };
}

describe('rights', () => {
  const READS: readonly Action[] = ['find', 'findOne'];
  test.each<[string, Rights, (action: Action) => boolean, boolean, boolean]>([
    ['full access', FULL_ACCESS, () => true, true, true],
    ['reading', READER, (action) => READS.includes(action), false, false],
    ['reading drafts', { ...READER, drafts: true }, (action) => READS.includes(action), true, false],
    ['one action', custom(`${RESTAURANT}.update`), (action) => action === 'update', false, false],
    ['nothing', NO_RIGHTS, () => false, false, false],
  ])('%s', (_name, rights, allowed, drafts, administer) => {
    for (const action of ACTIONS) expect(may(rights, RESTAURANT, action), action).toBe(allowed(action));
    expect(mayReadDrafts(rights)).toBe(drafts);
    expect(mayAdminister(rights)).toBe(administer);
  });

  test('a custom right applies only to its type', () => {
    expect(may(custom(`${RESTAURANT}.find`), 'api::chef.chef', 'find')).toBe(false);
  });

  test('have the same key in any order', () => {
    const a = custom('api::a.a.find', 'api::b.b.find');
    expect(rightsKey(a)).toBe(rightsKey(custom('api::b.b.find', 'api::a.a.find')));
    expect(
      new Set([a, READER, { ...READER, drafts: true }, FULL_ACCESS, NO_RIGHTS].map(rightsKey)).size,
    ).toBe(5);
  });
});

describe('--allow', () => {
  test.each<[string, readonly string[]]>([
    ['', []],
    ['restaurant.find', ['api::restaurant.restaurant.find']],
    [' restaurant.find , tag.findOne ', ['api::restaurant.restaurant.find', 'api::tag.tag.findOne']],
    ['api::restaurant.restaurant.publish', ['api::restaurant.restaurant.publish']],
    ['plugin::users-permissions.user.find', ['plugin::users-permissions.user.find']],
    ['user.find,user.find', ['plugin::users-permissions.user.find']],
    ['tag.*', ['create', 'delete', 'find', 'findOne', 'update'].map((action) => `api::tag.tag.${action}`)],
  ])('"%s"', (text, allowed) => {
    expect(parseAllow(text, registry)).toEqual({ kind: 'allowed', allowed });
  });

  test('reports every problem', () => {
    const parsed = parseAllow('restaurant.find,nope.find,tag.publish,chef,restaurant.read,', registry);
    expect(parsed).toEqual({
      kind: 'problems',
      problems: [
        expect.stringContaining('there is no content type nope'),
        '"tag.publish": tag has no action publish, only find, findOne, create, update, delete',
        '"chef" is not a right such as restaurant.find',
        expect.stringContaining('restaurant has no action read'),
        '"" is not a right such as restaurant.find',
      ],
    });
  });

  test('is shown as its short form', () => {
    expect(shortRight(`${RESTAURANT}.find`, registry)).toBe('restaurant.find');
    expect(shortRight('api::gone.gone.find', registry)).toBe('api::gone.gone.find');
  });
});

describe('the visible content types', () => {
  const relations = (rights: Rights, uid: string) =>
    [...contentTypeOf(visibleRegistry(registry, rights), uid).attributes.values()]
      .filter(({ kind }) => kind === 'relation')
      .map(({ name }) => name);

  test('are all types for a caller that may find everything', () => {
    expect(visibleRegistry(registry, FULL_ACCESS)).toBe(registry);
    expect(visibleRegistry(registry, READER)).toBe(registry);
  });

  test('have no relation to a type that the caller may not find', () => {
    const rights = custom(`${RESTAURANT}.find`, 'api::tag.tag.find');
    const shown = relations(rights, RESTAURANT);
    expect(shown.length).toBeGreaterThan(0);
    const { attributes } = contentTypeOf(registry, RESTAURANT);
    for (const attribute of attributes.values()) {
      if (attribute.kind !== 'relation') continue;
      const isFound = attribute.target === 'api::tag.tag' || attribute.target === RESTAURANT;
      expect(shown.includes(attribute.name), attribute.name).toBe(isFound);
    }
  });

  test('have no components with such a relation', () => {
    const hidden = [...visibleRegistry(registry, NO_RIGHTS).components.values()].flatMap(({ attributes }) =>
      [...attributes.values()].filter(({ kind }) => kind === 'relation'),
    );
    const all = [...registry.components.values()].flatMap(({ attributes }) =>
      [...attributes.values()].filter(({ kind }) => kind === 'relation'),
    );
    expect(all.length).toBeGreaterThan(0);
    expect(hidden).toEqual([]);
  });

  test('share unchanged models, and are created once for equal rights', () => {
    const seen = visibleRegistry(registry, custom(`${RESTAURANT}.find`));
    expect(visibleRegistry(registry, custom(`${RESTAURANT}.find`))).toBe(seen);
    expect(seen.components.get('common.hours')).toBe(registry.components.get('common.hours'));
  });
});
