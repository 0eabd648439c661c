import { describe, expect, test } from 'vitest';
import { type DocumentState, decide, type Intent } from '../../services/command/decide.ts';
import { canonicalJson } from '../../shared/canonical-json.ts';
import type { Entry } from '../../shared/document/entry.ts';
import { schemasOf } from './command-world.ts';

const localized = { i18n: { localized: true } };
const { contentTypes } = schemasOf({
  page: { attributes: { a: { type: 'integer' }, b: { type: 'json' } } },
  note: { attributes: { a: { type: 'integer' } }, options: { draftAndPublish: false } },
  text: {
    pluginOptions: localized,
    attributes: {
      code: { type: 'string', pluginOptions: { i18n: { localized: false } } },
      title: { type: 'string', pluginOptions: localized },
    },
  },
}).registry;

function given(name: string, ...rows: readonly Partial<Entry>[]): DocumentState {
  const type = contentTypes.get(`api::${name}.${name}`)!;
  const at = '2024-01-01T00:00:00.000Z';
  const entries = rows.map(
    (row): Entry => ({
      key: 1,
      id: 1,
      type: type.uid,
      documentId: 'd',
      locale: null,
      version: 'draft',
      values: {},
      createdAt: at,
      updatedAt: at,
      publishedAt: null,
      ...row,
    }),
  );
  return { type, documentId: 'd', entries };
}

type Write = Intent & { kind: 'write' };
const write = (more: Partial<Write>): Write => ({
  kind: 'write',
  locale: null,
  values: {},
  relations: [],
  publish: false,
  ...more,
});

const page = { type: 'api::page.page', documentId: 'd', locale: null };
const text = { type: 'api::text.text', documentId: 'd' };
const link = { documentId: 'x', locale: null };
const published = { version: 'published', publishedAt: '2024-01-02T00:00:00.000Z' } as const;

const TABLE: readonly [name: string, state: DocumentState, intent: Intent, then: readonly unknown[]][] = [
  [
    'a new draft has what is not null',
    given('page'),
    write({ values: { a: 1, b: null } }),
    [{ type: 'entry-created', data: { ...page, values: { a: 1 }, shared: [], relations: [] } }],
  ],
  [
    'a new published entry is created and published at once',
    given('page'),
    write({ values: { a: 1 }, publish: true }),
    [
      { type: 'entry-created', data: { ...page, values: { a: 1 }, shared: [], relations: [] } },
      { type: 'entry-published', data: page },
    ],
  ],
  [
    'a type without drafts is not published',
    given('note'),
    write({ values: { a: 1 }, publish: true }),
    [
      {
        type: 'entry-created',
        data: { ...page, type: 'api::note.note', values: { a: 1 }, shared: [], relations: [] },
      },
    ],
  ],
  [
    'an import may give the numeric id',
    given('page'),
    write({ id: 7 }),
    [{ type: 'entry-created', data: { ...page, values: {}, shared: [], relations: [], id: 7 } }],
  ],
  [
    'a new entry has no links to clear',
    given('page'),
    write({
      relations: [
        { attribute: 'l', kind: 'set', targets: [] },
        { attribute: 'm', kind: 'update', disconnect: [link], connect: [] },
        { attribute: 'n', kind: 'set', targets: [link] },
      ],
    }),
    [
      {
        type: 'entry-created',
        data: {
          ...page,
          values: {},
          shared: [],
          relations: [{ attribute: 'n', kind: 'set', targets: [link] }],
        },
      },
    ],
  ],
  [
    'an edit records what changed, null where it clears',
    given('page', { values: { a: 1, b: { x: [1] } } }),
    write({ values: { a: null, b: canonicalJson({ x: [1] }) } }),
    [{ type: 'entry-changed', data: { ...page, values: { a: null }, shared: [], relations: [] } }],
  ],
  [
    'clearing what is not there changes nothing',
    given('page', { values: {} }),
    write({ values: { a: null } }),
    [{ type: 'entry-changed', data: { ...page, values: {}, shared: [], relations: [] } }],
  ],
  [
    'publishing without a change is only that',
    given('page', { values: { a: 1 } }, { ...published, values: { a: 1 } }),
    write({ values: { a: 1 }, publish: true }),
    [{ type: 'entry-published', data: page }],
  ],
  [
    'a further locale takes over what all locales share',
    given('text', { locale: 'en', values: { code: 'c', title: 't' } }),
    write({ locale: 'fr', values: { title: 'T' } }),
    [
      {
        type: 'entry-created',
        data: { ...text, locale: 'fr', values: { code: 'c', title: 'T' }, shared: [], relations: [] },
      },
    ],
  ],
  [
    'a shared value that is written is named',
    given('text', { locale: 'en', values: { code: 'c' } }),
    write({ locale: 'en', values: { code: 'd', title: 'T' } }),
    [
      {
        type: 'entry-changed',
        data: { ...text, locale: 'en', values: { code: 'd', title: 'T' }, shared: ['code'], relations: [] },
      },
    ],
  ],
  [
    'what is published can be unpublished',
    given('page', {}, published),
    { kind: 'unpublish', locale: null },
    [{ type: 'entry-unpublished', data: page }],
  ],
  ['what is not published need not be', given('page', {}), { kind: 'unpublish', locale: null }, []],
  [
    'a draft is discarded for the published entry',
    given('page', {}, published),
    { kind: 'discard-draft', locale: null },
    [{ type: 'draft-discarded', data: page }],
  ],
  [
    'only drafts of published entries are discarded',
    given('page', {}),
    { kind: 'discard-draft', locale: null },
    [],
  ],
  [
    'one locale is deleted',
    given('text', { locale: 'en' }, { locale: 'fr' }),
    { kind: 'delete', locale: 'fr' },
    [{ type: 'entry-deleted', data: { ...text, locale: 'fr' } }],
  ],
  ['what is not there is not deleted', given('text', { locale: 'en' }), { kind: 'delete', locale: 'fr' }, []],
];

describe('decide', () => {
  test.each(TABLE)('%s', (_name, state, intent, then) => {
    expect(decide(intent, state)).toEqual(then);
  });

  test('a further locale has new components of its own', () => {
    const shared = { i18n: { localized: false } };
    const schemas = schemasOf(
      {
        text: {
          pluginOptions: localized,
          attributes: { part: { type: 'component', component: 'x.part', pluginOptions: shared } },
        },
      },
      { 'x.part': { n: { type: 'integer' } } },
    );
    const type = schemas.registry.contentTypes.get('api::text.text')!;
    const entry = given('text', { locale: 'en', values: { part: { id: 5, n: 1 } } }).entries[0]!;
    const [event] = decide(write({ locale: 'fr' }), { type, documentId: 'd', entries: [entry] });
    expect(event).toMatchObject({ data: { values: { part: { n: 1 } } } });
    expect(event).not.toHaveProperty('data.values.part.id');
  });
});
