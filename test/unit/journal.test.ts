import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openContentGraph } from '../../projections/graph/content-graph.ts';
import { type ChangeFeedOptions, createChangeFeed } from '../../services/changes/change-feed.ts';
import { FULL_ACCESS } from '../../shared/access/rights.ts';
import type { VarveEvent } from '../../shared/document/events.ts';
import { createDataDirectory } from '../support/server.ts';
import {
  changed,
  created,
  createLog,
  DEFINITIONS,
  definition,
  deleted,
  discarded,
  published,
  SCHEMAS,
  unpublished,
  withGraph,
} from './graph-fixture.ts';

/** Applies events, and returns the rows of the journal by event: version, locale, what happened and the names that differ. */
function journalOf(...events: readonly VarveEvent[]): readonly (readonly string[])[] {
  return withGraph({}, (graph) => {
    const log = createLog();
    graph.apply(log.add(...DEFINITIONS));
    const before = graph.position();
    const added = log.add(...events);
    for (const event of added) graph.apply([event]);
    const rows = graph.changesBetween(before, graph.position());
    return added.map(({ position }) => {
      const of = rows.filter((row) => row.position === position);
      return of.map(({ status, locale, event, changed: names }) => {
        const differing = event !== 'update' ? [] : names === 'all' ? ['all'] : [...names].sort();
        return [status, ...(locale === null ? [] : [locale]), event, ...differing].join(' ');
      });
    });
  });
}

const edit = (values: object, shared: string[] = []) => ({ values, shared }) as never;
const imported = (version: string): VarveEvent =>
  ({
    type: 'entry-imported',
    data: {
      ...{ type: 'api::chef.chef', documentId: 'a', locale: null, version, values: {}, relations: [] },
      ...{ createdAt: '', updatedAt: '', publishedAt: version === 'draft' ? null : '' },
    },
  }) as VarveEvent;

describe('the journal', () => {
  it('says what each event did to each row, and names what was changed since the last publication', () => {
    const name = (text: string) => changed('restaurant', 'a', edit({ name: text }));
    expect(
      journalOf(
        created('restaurant', 'a', edit({ name: 'x' })),
        name('y'),
        published('restaurant', 'a'),
        name('z'),
        changed('restaurant', 'a', edit({ stars: 1 })),
        published('restaurant', 'a'),
        published('restaurant', 'a'),
        name('u'),
        discarded('restaurant', 'a'),
        unpublished('restaurant', 'a'),
        deleted('restaurant', 'a'),
        created('tag', 't'),
        changed('tag', 't', edit({ name: 'x' })),
        deleted('tag', 't'),
      ),
    ).toEqual([
      ['draft create'],
      ['draft update name'],
      ['published create'],
      ['draft update name'],
      ['draft update stars'],
      ['published update name stars'],
      ['published update'],
      ['draft update name'],
      ['draft update name'],
      ['published delete'],
      ['draft delete'],
      ['published create'],
      ['published update name'],
      ['published delete'],
    ]);
  });

  it('names the paths in components whose values differ', () => {
    const address = (values: object | null) => changed('restaurant', 'a', edit({ address: values }));
    const place = { city: 'c', geo: { lat: 1 } };
    expect(
      journalOf(
        created('restaurant', 'a', edit({ address: place })),
        address({ ...place, city: 'd' }),
        address({ city: 'd', geo: { lat: 2 } }),
        address({ city: 'd', geo: { lat: 2 } }),
        address(null),
      ).slice(1),
    ).toEqual([
      ['draft update address/common.address/city'],
      ['draft update address/common.address/geo/common.geo/lat'],
      ['draft update'],
      [
        `draft update ${['', '/city', '/country', '/geo', '/geo/common.geo/lat', '/note']
          .map((path) => (path === '' ? 'address' : `address/common.address${path}`))
          .sort()
          .join(' ')}`,
      ],
    ]);
  });

  it('has the rows of other locales that share values', () => {
    const en = (values: object, shared: string[]) => changed('article', 'a', edit(values, shared), 'en');
    expect(
      journalOf(
        created('article', 'a', edit({ title: 'x', code: 'c' }, ['code']), 'en'),
        created('article', 'a', edit({ title: 'y' }), 'fr'),
        published('article', 'a', 'en'),
        published('article', 'a', 'fr'),
        en({ title: 'z', code: 'd' }, ['code']),
        published('article', 'a', 'fr'),
        en({ code: 'e' }, ['code']),
        discarded('article', 'a', 'en'),
        deleted('article', 'a', 'fr'),
      ),
    ).toEqual([
      ['draft en create'],
      ['draft fr create'],
      ['published en create'],
      ['published fr create'],
      ['draft en update code title', 'draft fr update code'],
      ['published fr update code', 'published en update code'],
      ['draft en update code', 'draft fr update code'],
      ['draft en update code title', 'draft fr update code'],
      ['draft fr delete', 'published fr delete'],
    ]);
  });

  it('knows nothing of what an import changed, until the next publication', () => {
    expect(
      journalOf(
        imported('draft'),
        imported('published'),
        imported('draft'),
        published('chef', 'a'),
        changed('chef', 'a', edit({ name: 'n' })),
        published('chef', 'a'),
      ),
    ).toEqual([
      ['draft create'],
      ['published create'],
      ['draft update all'],
      ['published update all'],
      ['draft update name'],
      ['published update name'],
    ]);
  });

  it('begins again when draft & publish is switched', () => {
    const chef = SCHEMAS['chef'] as never as object;
    const withDrafts = (draftAndPublish: boolean) =>
      definition('chef', { ...chef, options: { draftAndPublish } } as never);
    expect(
      journalOf(
        created('chef', 'a', edit({ name: 'n' })),
        published('chef', 'a'),
        changed('chef', 'a', edit({ name: 'm' })),
        withDrafts(false),
        changed('chef', 'a', edit({ name: 'o' })),
        withDrafts(true),
        published('chef', 'a'),
      ),
    ).toEqual([
      ['draft create'],
      ['published create'],
      ['draft update name'],
      [],
      ['published update name'],
      [],
      ['published update'],
    ]);
  });

  it('is not there in a graph of an earlier projector: the change feed waits for a new one', async () => {
    const file = `${createDataDirectory()}/graph.db`;
    const graph = openContentGraph(file);
    expect(graph.hasJournal()).toBe(true);
    graph.apply(createLog().add(...DEFINITIONS));
    graph.close();
    const db = new DatabaseSync(file);
    db.exec("UPDATE meta SET value = 2 WHERE name = 'projector'");
    db.close();
    const earlier = openContentGraph(file);
    onTestFinished(() => earlier.close());
    const registry = earlier.registry();
    const feed = createChangeFeed({ graph: earlier, registry } as unknown as ChangeFeedOptions);
    const { reader } = feed.reader({ rights: FULL_ACCESS, registry, authorization: undefined }, '');
    await expect(reader.page(undefined)).rejects.toMatchObject({ code: 'starting' });
  });
});
