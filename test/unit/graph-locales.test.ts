import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  changed,
  created,
  deleted,
  discarded,
  openTestGraph,
  published,
  set,
  type TestGraph,
} from './graph-fixture.ts';

const FILE = 'plugin::upload.file';

let graph: TestGraph;
beforeEach(() => {
  graph = openTestGraph();
  graph.given(created('topic', 't1', {}, 'en'), created('topic', 't1', {}, 'fr'), created('country', 'c1'));
  graph.given(created('article', 'a1', { values: { title: 'en', code: 'X' }, shared: ['code'] }, 'en'));
  graph.given(created('article', 'a1', { values: { title: 'fr', code: 'X' }, shared: ['code'] }, 'fr'));
});
afterEach(() => graph.close());

const code = (version: string, locale: string) => graph.row('article', 'a1', version, locale)?.['code'];
const state = (locale: string) => graph.field('article', 'a1', 'draft', '$publication', locale);

describe('locales of a document', () => {
  it('shows the locale at the end of the answer', () => {
    expect(Object.keys(graph.row('article', 'a1', 'draft', 'fr') ?? {}).at(-1)).toBe('locale');
  });

  it('links the rows of a world to each other, ordered by locale', () => {
    graph.given(created('article', 'a1', { values: { code: 'X' }, shared: ['code'] }, 'de'));
    const others = [...graph.index.links.values()]
      .filter(
        ({ attribute, rowSet }) => attribute === 'localizations' && rowSet.type === 'api::article.article',
      )
      .filter(({ source }) => source === keyOf('fr'))
      .sort((a, b) => (a.order?.sourceOrder ?? 0) - (b.order?.sourceOrder ?? 0));
    expect(others.map(({ world, target }) => [world, target])).toEqual([
      ['draft', keyOf('de')],
      ['draft', keyOf('en')],
    ]);
    graph.given(deleted('article', 'a1', 'en'), deleted('article', 'a1', 'de'));
    expect([...graph.index.links.values()].filter(({ source }) => source === keyOf('fr'))).toEqual([]);
  });

  it('copies shared values to the other drafts, and touches only rows that differ', () => {
    const batch = graph.given(changed('article', 'a1', { values: { code: 'Y' }, shared: ['code'] }, 'en'));
    expect(batch.rows).toHaveLength(2);
    expect([code('draft', 'en'), code('draft', 'fr')]).toEqual(['Y', 'Y']);
    expect(
      graph.given(changed('article', 'a1', { values: { code: 'Y' }, shared: ['code'] }, 'en')).rows,
    ).toHaveLength(1);
    expect(graph.row('article', 'a1', 'draft', 'fr')?.['title']).toBe('fr');
  });

  it('publishes one locale only, with the shared values in all published locales', () => {
    graph.given(published('article', 'a1', 'en'));
    expect(graph.row('article', 'a1', 'published', 'fr')).toBeUndefined();
    expect(graph.field('article', 'a1', 'draft', '$documentPublished', 'fr')).toBe(true);
    graph.given(published('article', 'a1', 'fr'));
    graph.given(changed('article', 'a1', { values: { code: 'Y', title: 'en 2' }, shared: ['code'] }, 'en'));
    expect([state('en'), state('fr')]).toEqual(['modified', 'modified']);
    expect(code('published', 'fr')).toBe('X');
    graph.given(published('article', 'a1', 'en'));
    expect([code('published', 'en'), code('published', 'fr')]).toEqual(['Y', 'Y']);
    expect([state('en'), state('fr')]).toEqual(['published', 'published']);
  });

  it('keeps a locale modified by its own edit when another publishes the shared values', () => {
    graph.given(published('article', 'a1', 'en'), published('article', 'a1', 'fr'));
    graph.given(changed('article', 'a1', { values: { title: 'fr 2' } }, 'fr'));
    graph.given(changed('article', 'a1', { values: { code: 'Y' }, shared: ['code'] }, 'fr'));
    expect([state('en'), state('fr')]).toEqual(['modified', 'modified']);
    graph.given(published('article', 'a1', 'en'));
    expect([state('en'), state('fr')]).toEqual(['published', 'modified']);
    expect(graph.row('article', 'a1', 'published', 'fr')).toMatchObject({ title: 'fr', code: 'Y' });
  });

  it('discards shared values in every draft', () => {
    graph.given(published('article', 'a1', 'en'), published('article', 'a1', 'fr'));
    graph.given(changed('article', 'a1', { values: { code: 'Y' }, shared: ['code'] }, 'en'));
    graph.given(discarded('article', 'a1', 'en'));
    expect([code('draft', 'en'), code('draft', 'fr')]).toEqual(['X', 'X']);
    expect([state('en'), state('fr')]).toEqual(['published', 'published']);
  });

  it('copies shared media to the other locales, and publishes it in all of them', () => {
    graph.given(created(FILE, 'f1'), created(FILE, 'f2'));
    graph.given(published('article', 'a1', 'fr'), published('article', 'a1', 'en'));
    const pictures = (world: string, locale: string) =>
      graph.targets('article', 'pictures', world, 'a1', locale);
    graph.given(
      changed('article', 'a1', { relations: [set('pictures', 'f1', 'f2')], shared: ['pictures'] }, 'en'),
    );
    expect([pictures('draft', 'en'), pictures('draft', 'fr')]).toEqual([
      ['f1', 'f2'],
      ['f1', 'f2'],
    ]);
    expect([state('en'), state('fr'), pictures('published', 'fr')]).toEqual(['modified', 'modified', []]);
    graph.given(published('article', 'a1', 'fr'));
    expect([pictures('published', 'en'), state('en')]).toEqual([['f1', 'f2'], 'published']);
    graph.given(changed('article', 'a1', { relations: [set('pictures')], shared: ['pictures'] }, 'fr'));
    expect([pictures('draft', 'en'), pictures('published', 'en')]).toEqual([[], ['f1', 'f2']]);
    graph.given(discarded('article', 'a1', 'fr'));
    expect([pictures('draft', 'en'), state('en')]).toEqual([['f1', 'f2'], 'published']);
  });

  it('links an article of one locale to the topic of the same locale', () => {
    const targets = (locale: string) => [{ documentId: 't1', locale }];
    const operation = (locale: string) => ({ attribute: 'topics', kind: 'set', targets: targets(locale) });
    graph.given(changed('article', 'a1', { relations: [operation('fr')] }, 'fr'));
    const linked = (locale: string) =>
      graph.graph.reader.linkedTargets('api::article.article', 'a1', locale, 'topics');
    expect([linked('en'), linked('fr')]).toEqual([[], targets('fr')]);
    graph.given(deleted('topic', 't1', 'en'));
    expect(linked('fr')).toEqual(targets('fr'));
  });

  it('copies shared components under ids of their own, once', () => {
    const place = { city: 'Lima', country: [{ documentId: 'c1', locale: null }] };
    graph.given(changed('article', 'a1', { values: { place }, shared: ['place'] }, 'en'));
    const value = (locale: string) =>
      graph.graph.reader.entries('api::article.article', 'a1').find((entry) => entry.locale === locale)
        ?.values['place'];
    expect(value('en')).toEqual({ id: 1, ...place });
    expect(value('fr')).toEqual({ id: 2, ...place });
    const again = { id: 1, ...place };
    expect(
      graph.given(changed('article', 'a1', { values: { place: again }, shared: ['place'] }, 'en')).rows,
    ).toHaveLength(1);
    expect(value('fr')).toEqual({ id: 2, ...place });
  });
});

function keyOf(locale: string): number | undefined {
  return graph.graph.reader.entries('api::article.article', 'a1').find((entry) => entry.locale === locale)
    ?.key;
}
