import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readGraphContents } from '../../projections/generations/graph-contents.ts';
import type { VarveEvent } from '../../shared/document/events.ts';
import type { Json } from '../../shared/json.ts';
import {
  changed,
  connect,
  created,
  createLog,
  DEFINITIONS,
  definition,
  published,
  SCHEMAS,
  set,
  uid,
} from './graph-fixture.ts';
import { graphOutcome } from './graph-outcome.ts';

/**
 * Changes of content types over stored history. After each change, a graph that applied the log event by event is compared, item by
 * item, with one that replayed it in one batch. A conversion in place must equal a rebuild.
 */
let folder: string;
let log: ReturnType<typeof createLog>;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'varve-schema-'));
  log = createLog();
  log.add(...DEFINITIONS);
});
afterEach(() => rmSync(folder, { recursive: true }));

const outcome = () => graphOutcome(folder, log.all());

type Attributes = { readonly [name: string]: Json };

/** Returns the definition of a type with some attributes replaced (null removes one) and other members. */
function redefined(
  name: string,
  attributes: Attributes,
  more: { readonly [member: string]: Json } = {},
): VarveEvent {
  const schema = SCHEMAS[name] as unknown as { readonly attributes: Attributes };
  const merged = Object.entries({ ...schema.attributes, ...attributes }).filter(([, each]) => each !== null);
  return definition(name, { ...schema, attributes: Object.fromEntries(merged), ...more } as Json);
}

const RENAMED = (from: string) => ({ pluginOptions: { varve: { renamedFrom: from } } });
const LOCALIZED = { pluginOptions: { i18n: { localized: true } } };

describe('attributes', () => {
  it('a new one is null until it is written', () => {
    log.add(
      created('tag', 't1', { values: { name: 'A' } }),
      redefined('tag', { colour: { type: 'string' } }),
    );
    log.add(created('tag', 't2', { values: { name: 'B', colour: 'red' } }));
    const { read, close } = outcome();
    expect(read('tag', 't1')).toEqual([
      { version: 'live', locale: null, id: 1, values: { name: 'A', colour: null } },
    ]);
    expect(read('tag', 't2')[0]?.values).toEqual({ name: 'B', colour: 'red' });
    close();
  });

  it('one that is removed and added again has its values again', () => {
    log.add(
      created('tag', 't1', { values: { name: 'A' } }),
      redefined('tag', { name: null }),
      definition('tag'),
    );
    const { read, close } = outcome();
    expect(read('tag', 't1')[0]?.values).toEqual({ name: 'A' });
    close();
  });

  it('a renamed one keeps its values, also those that older events have under the old name', () => {
    log.add(created('chef', 'h1', { values: { name: 'A' } }), published('chef', 'h1'));
    log.add(changed('chef', 'h1', { values: { name: 'B' } }));
    const renamed = redefined('chef', {
      name: null,
      fullName: { type: 'string', unique: true, ...RENAMED('name') },
    });
    log.add(renamed, changed('chef', 'h1', { values: { fullName: 'C' } }), created('chef', 'h2'));
    const { read, close } = outcome();
    expect(read('chef', 'h1').map(({ version, values }) => [version, values['fullName']])).toEqual([
      ['draft', 'C'],
      ['published', 'A'],
    ]);
    close();
  });

  it('a renamed relation keeps its links in both worlds', () => {
    log.add(created('tag', 'a'), created('restaurant', 'r1', { relations: [set('tags', 'a')] }));
    log.add(published('restaurant', 'r1'));
    const tags = { type: 'relation', relation: 'manyToMany', target: uid('tag'), inversedBy: 'restaurants' };
    log.add(
      redefined('restaurant', { tags: null, labels: { ...tags, ...RENAMED('tags') } }),
      redefined('tag', {
        restaurants: {
          type: 'relation',
          relation: 'manyToMany',
          target: uid('restaurant'),
          mappedBy: 'labels',
        },
      }),
      created('tag', 'b'),
      changed('restaurant', 'r1', { relations: [connect('labels', 'b')] }),
    );
    const { links, close } = outcome();
    expect(links('restaurant', 'r1', 'labels').map(({ documentId }) => documentId)).toEqual(['a', 'b']);
    expect(links('tag', 'a', 'restaurants').map(({ documentId }) => documentId)).toEqual(['r1']);
    close();
  });

  it.each([
    ['integer to string', { type: 'integer' }, 12, { type: 'string' }, '12'],
    ['string to integer', { type: 'string' }, '12', { type: 'integer' }, 12],
    ['a text that is not a number', { type: 'string' }, 'Peru', { type: 'integer' }, null],
    ['a number that would not come back', { type: 'string' }, '012', { type: 'integer' }, null],
    ['decimal to integer', { type: 'decimal' }, 1.5, { type: 'integer' }, null],
    ['integer to biginteger', { type: 'integer' }, 7, { type: 'biginteger' }, '7'],
    ['boolean to string', { type: 'boolean' }, true, { type: 'text' }, 'true'],
    ['date to datetime', { type: 'date' }, '2020-02-29', { type: 'datetime' }, '2020-02-29T00:00:00.000Z'],
    ['datetime to date', { type: 'datetime' }, '2020-02-29T10:00:00.000Z', { type: 'date' }, null],
    ['string to enumeration', { type: 'string' }, 'a', { type: 'enumeration', enum: ['a', 'b'] }, 'a'],
    [
      'string to another enumeration',
      { type: 'string' },
      'c',
      { type: 'enumeration', enum: ['a', 'b'] },
      null,
    ],
    ['password to string', { type: 'password' }, '$argon2id$hash', { type: 'string' }, null],
    ['string to password', { type: 'string' }, 'plain', { type: 'password' }, null],
    ['json to string', { type: 'json' }, { a: 1 }, { type: 'string' }, null],
  ] as const)(
    'a type is changed, %s: values that the new type can represent stay',
    (_what, before, value, now, expected) => {
      log.add(
        redefined('tag', { name: before as Json }),
        created('tag', 't1', { values: { name: value as Json } }),
      );
      log.add(redefined('tag', { name: now as unknown as Json }), created('tag', 't2'));
      const { read, close } = outcome();
      expect(read('tag', 't1')[0]?.values['name'] ?? null).toEqual(expected);
      close();
    },
  );
});

describe('draft & publish', () => {
  it('is turned on: every entry becomes draft and published', () => {
    log.add(
      created('review', 'v1', { values: { title: 'x' } }),
      redefined('review', {}, { options: { draftAndPublish: true } }),
    );
    log.add(changed('review', 'v1', { values: { title: 'y' } }));
    const { read, close } = outcome();
    expect(read('review', 'v1').map(({ version, values }) => [version, values['title']])).toEqual([
      ['draft', 'y'],
      ['published', 'x'],
    ]);
    close();
  });

  it('is turned off: published rows stay', () => {
    log.add(created('chef', 'h1', { values: { name: 'A' } }), published('chef', 'h1'), created('chef', 'h2'));
    log.add(
      changed('chef', 'h1', { values: { name: 'B' } }),
      redefined('chef', {}, { options: { draftAndPublish: false } }),
    );
    const { read, close } = outcome();
    expect(read('chef', 'h1').map(({ version, values }) => [version, values['name']])).toEqual([
      ['live', 'A'],
    ]);
    expect(read('chef', 'h2')).toEqual([]);
    close();
  });
});

describe('locales', () => {
  it('are turned on: every entry gets the default locale, with its links', () => {
    log.add(created('chef', 'h1', { values: { name: 'A' } }), published('chef', 'h1'));
    log.add(created('restaurant', 'r1', { relations: [set('chef', 'h1')] }));
    log.add(redefined('chef', { name: { type: 'string', unique: true, ...LOCALIZED } }, LOCALIZED));
    log.add(
      changed('chef', 'h1', { values: { name: 'B' } }, 'en'),
      created('chef', 'h1', { values: { name: 'C' } }, 'de'),
    );
    const { read, links, close } = outcome();
    expect(
      read('chef', 'h1').map(({ version, locale, values }) => [version, locale, values['name']]),
    ).toEqual([
      ['draft', 'de', 'C'],
      ['draft', 'en', 'B'],
      ['published', 'en', 'A'],
    ]);
    expect(links('restaurant', 'r1', 'chef')).toEqual([{ documentId: 'h1', locale: 'en' }]);
    close();
  });

  it('are turned off and on: the default locale’s entries stay', () => {
    const label = (text: string, locale: string) =>
      created('topic', 'o1', { values: { label: text } }, locale);
    log.add(label('one', 'en'), label('eins', 'de'));
    log.add(
      redefined('topic', {}, { pluginOptions: {} }),
      changed('topic', 'o1', { values: { label: 'two' } }),
    );
    log.add(
      definition('topic'),
      changed('topic', 'o1', { values: { label: 'three' } }, 'en'),
      label('drei', 'de'),
    );
    const { read, close } = outcome();
    expect(read('topic', 'o1').map(({ locale, id, values }) => [locale, id, values['label']])).toEqual([
      ['de', 3, 'drei'],
      ['en', 1, 'three'],
    ]);
    close();
  });
});

describe('a component', () => {
  const restaurant = definition('restaurant') as VarveEvent & { type: 'content-type-defined' };
  const withComponent = (componentUid: string, attributes: Attributes): VarveEvent => ({
    type: 'content-type-defined',
    data: {
      ...restaurant.data,
      components: {
        ...restaurant.data.components,
        [componentUid]: { info: { displayName: 'x' }, attributes },
      },
    },
  });

  it('changes its values at every depth, for any order of the definitions', () => {
    const address = { city: 'Oslo', note: 'n', geo: { lat: 1.5 } };
    log.add(
      created('restaurant', 'r1', { values: { address, sections: [{ __component: 'common.geo', lat: 2 }] } }),
    );
    log.add(published('restaurant', 'r1'));
    const article = definition('article') as VarveEvent & { type: 'content-type-defined' };
    const changedGeo = { latitude: { type: 'string', ...RENAMED('lat') } };
    const ofRestaurant = withComponent('common.geo', changedGeo) as typeof restaurant;
    log.add(
      { ...article, data: { ...article.data, components: ofRestaurant.data.components } },
      ofRestaurant,
    );
    const { read, close } = outcome();
    for (const { values } of read('restaurant', 'r1')) {
      expect(values['address']).toMatchObject({ city: 'Oslo', note: 'n', geo: { latitude: '1.5' } });
      expect(values['sections']).toMatchObject([{ __component: 'common.geo', latitude: '2' }]);
      expect(JSON.stringify(values)).not.toContain('"lat"');
    }
    expect(read('restaurant', 'r1')).toHaveLength(2);
    close();
  });

  it('is removed from a dynamic zone, and a single one becomes a list: links of removed components are removed', () => {
    log.add(created('country', 'c1'), created('chef', 'h1'));
    const link = (documentId: string) => [{ documentId, locale: null }];
    const values = {
      address: { city: 'Oslo', country: link('c1') },
      sections: [
        { __component: 'blocks.teaser', label: 'x', chefs: link('h1') },
        { __component: 'common.geo', lat: 1 },
      ],
    };
    log.add(created('restaurant', 'r1', { values: values as never }));
    log.add(
      redefined('restaurant', {
        address: { type: 'component', component: 'common.address', repeatable: true },
        sections: { type: 'dynamiczone', components: ['common.geo'] },
      }),
    );
    const { read, close } = outcome();
    const [row] = read('restaurant', 'r1');
    expect(row?.values['address']).toMatchObject([{ city: 'Oslo', country: link('c1') }]);
    expect(row?.values['sections']).toMatchObject([{ __component: 'common.geo', lat: 1 }]);
    close();
    const contents = readGraphContents(join(folder, 'rebuilt.db'));
    const links = [...contents.items({})].filter(({ group }) => group.startsWith('links of'));
    contents.close();
    expect(links.map(({ name }) => name.replaceAll(/\d+ (?=\D)/g, ''))).toEqual([
      expect.stringContaining('c1'),
    ]);
  });
});

describe('a content type', () => {
  it('that is in the log but no longer in the folder keeps its rows, and has them when it is added again', () => {
    log.add(
      created('tag', 't1', { values: { name: 'A' } }),
      redefined('restaurant', { tags: null }),
      definition('tag'),
    );
    const { read, close } = outcome();
    expect(read('tag', 't1')[0]?.values).toEqual({ name: 'A' });
    close();
  });
});
