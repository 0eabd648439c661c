import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { followedEvents } from '../../../services/follow/followed-events.ts';
import { readRow, readStamp } from '../../../services/follow/rest-row.ts';
import type { GraphDocument } from '../../../services/follow/stored-document.ts';
import { createStrapiProxy } from '../../../services/follow/strapi-proxy.ts';
import { createImportNotes } from '../../../services/strapi/import-notes.ts';
import type { Entry } from '../../../shared/document/entry.ts';
import type { DocumentEvent } from '../../../shared/document/events.ts';
import type { RecordedLink } from '../../../shared/document/recorded-rows.ts';
import { contentTypeOf } from '../../../shared/schema/schema-registry.ts';
import { schemasOf } from '../command-world.ts';

const { registry } = schemasOf({
  page: {
    options: { draftAndPublish: true },
    pluginOptions: { i18n: { localized: true } },
    attributes: {
      title: { type: 'string' },
      note: { type: 'string', private: true },
      tags: { type: 'relation', relation: 'manyToMany', target: 'api::tag.tag', inversedBy: 'pages' },
    },
  },
  tag: {
    attributes: {
      name: { type: 'string' },
      pages: { type: 'relation', relation: 'manyToMany', target: 'api::page.page', mappedBy: 'tags' },
    },
  },
});
const page = contentTypeOf(registry, 'api::page.page');

type Version = {
  readonly locale: string;
  readonly version: 'draft' | 'published';
  readonly id: number;
  readonly title: string;
  readonly updatedAt: string;
  readonly tags: readonly string[];
};

const at = (second: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString();
const CREATED = at(0);

const sourceRow = ({ locale, version, id, title, updatedAt, tags }: Version) => {
  const publishedAt = version === 'draft' ? null : CREATED;
  const row = {
    ...{ id, documentId: 'doc', locale, title, createdAt: CREATED, updatedAt, publishedAt },
    tags: tags.map((documentId, slot) => ({ id: slot, documentId })),
  };
  return readRow(page, readStamp(page, version, 'en', row), row, version);
};

/** Returns the document as the graph has it after these events. */
function applied(before: GraphDocument, events: readonly DocumentEvent[]): GraphDocument {
  let { entries, links } = before;
  const without = (locale: string | null, ...versions: string[]) => {
    entries = entries.filter((each) => each.locale !== locale || !versions.includes(each.version));
    links = links.filter((each) => each.locale !== locale || !versions.includes(each.world));
  };
  for (const { type, data } of events) {
    const { locale } = data;
    if (type === 'entry-deleted') without(locale, 'draft', 'published');
    if (type === 'entry-unpublished') without(locale, 'published');
    if (type !== 'entry-imported') continue;
    const { version, id = 0, createdAt, updatedAt, publishedAt, values, relations, documentId } = data;
    without(locale, version);
    const entry: Entry = {
      key: id,
      id,
      type: data.type,
      documentId,
      locale,
      version,
      values,
      createdAt,
      updatedAt,
      publishedAt,
    };
    entries = [...entries, entry];
    const added = relations.flatMap(({ attribute, targets }) =>
      targets.map(
        ({ order, world: _both, ...far }, slot): RecordedLink => ({
          ...{ world: version as 'draft', locale, attribute, far },
          ...{ sourceOrder: slot, targetOrder: order ?? slot },
        }),
      ),
    );
    links = [...links, ...added];
  }
  return { entries, links };
}

const NOTHING: GraphDocument = { entries: [], links: [] };

function eventsFor(stored: GraphDocument, versions: readonly Version[]): readonly DocumentEvent[] {
  const notes = createImportNotes();
  const options = { registry, type: page, stored, slotOf: () => undefined, hasRow: () => true, notes };
  return followedEvents(options, versions.map(sourceRow));
}

const draft: Version = { locale: 'en', version: 'draft', id: 1, title: 'A', updatedAt: at(5), tags: ['x'] };
const published: Version = { ...draft, version: 'published', id: 2 };
const kinds = (events: readonly DocumentEvent[]) =>
  events.map(({ type, data }) => `${type} ${data.locale} ${'version' in data ? data.version : ''}`.trim());

describe('events of differing rows', () => {
  const both = applied(NOTHING, eventsFor(NOTHING, [draft, published]));

  it.each<[string, readonly Version[], readonly string[]]>([
    ['nothing', [draft, published], []],
    ['an edited draft', [{ ...draft, title: 'B', updatedAt: at(9) }, published], ['entry-imported en draft']],
    [
      'a discarded draft, behind which the published row says that nothing is modified',
      [{ ...draft, id: 3 }, published],
      ['entry-imported en draft', 'entry-imported en published'],
    ],
    ['another published row', [draft, { ...published, id: 4 }], ['entry-imported en published']],
    ['a row that was unpublished', [draft], ['entry-unpublished en']],
    [
      'another order of a relation',
      [{ ...draft, tags: ['y', 'x'] }, published],
      ['entry-imported en draft', 'entry-imported en published'],
    ],
    ['a document that is gone', [], ['entry-deleted en']],
    ['a further locale', [draft, published, { ...draft, locale: 'fr', id: 9 }], ['entry-imported fr draft']],
  ])('%s', (_what, versions, expected) => {
    expect(kinds(eventsFor(both, versions))).toEqual(expected);
  });

  it('keep a private value that the source does not show', () => {
    const entries = both.entries.map((entry) => ({ ...entry, values: { ...entry.values, note: 'kept' } }));
    expect(eventsFor({ ...both, entries }, [draft, published])).toEqual([]);
    const [event] = eventsFor({ ...both, entries }, [{ ...draft, title: 'B', updatedAt: at(9) }, published]);
    expect(event?.data).toMatchObject({ values: { title: 'B', note: 'kept' } });
  });
});

it('change any stored rows to those of the source, and are empty the second time', () => {
  const second = fc.integer({ min: 1, max: 9 });
  const version = fc.record({
    id: fc.integer({ min: 1, max: 99 }),
    title: fc.constantFrom('A', 'B'),
    updated: second,
    tags: fc.uniqueArray(fc.constantFrom('x', 'y', 'z')),
  });
  const locale = fc.option(fc.record({ draft: version, published: fc.option(version) }));
  const document = fc.record({ en: locale, fr: locale }).map((locales) =>
    Object.entries(locales).flatMap(([name, found]) =>
      (['draft', 'published'] as const).flatMap((each): Version[] => {
        const row = found?.[each];
        if (row === null || row === undefined) return [];
        const { updated, ...rest } = row;
        return [{ ...rest, locale: name, version: each, updatedAt: at(updated) }];
      }),
    ),
  );
  fc.assert(
    fc.property(fc.array(document, { minLength: 1, maxLength: 4 }), (history) => {
      let stored = NOTHING;
      for (const versions of history) {
        stored = applied(stored, eventsFor(stored, versions));
        expect(eventsFor(stored, versions)).toEqual([]);
        expect(stored.entries.map(({ id }) => id).sort()).toEqual(versions.map(({ id }) => id).sort());
      }
    }),
  );
});

it.each(['/../admin/login', '/%2e%2e/admin', '/..\\admin', '/./../x'])(
  'forwards only paths below the prefix of the API: %s',
  async (path) => {
    const proxy = createStrapiProxy({ url: 'http://127.0.0.1:1', prefix: '/api' });
    const request = {
      method: 'POST',
      path,
      headers: {},
      body: undefined,
      clientAddress: '127.0.0.1',
      protocol: 'http',
    };
    await expect(proxy(request)).rejects.toMatchObject({ code: 'not-found' });
  },
);
