import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { VarveEvent } from '../../shared/document/events.ts';
import type { Json } from '../../shared/json.ts';
import {
  changed,
  connect,
  created,
  deleted,
  discarded,
  disconnect,
  openTestGraph,
  published,
  set,
  type TestGraph,
  unpublished,
} from './graph-fixture.ts';

let graph: TestGraph;
beforeEach(() => {
  graph = openTestGraph();
});
afterEach(() => graph.close());

/** Returns events that create documents without values. */
function documents(name: string, ...documentIds: string[]): VarveEvent[] {
  return documentIds.map((documentId) => created(name, documentId));
}

function relate(name: string, documentId: string, ...relations: unknown[]): VarveEvent {
  return changed(name, documentId, { relations });
}

const tagsOf = (world: string, documentId = 'r1') => graph.targets('restaurant', 'tags', world, documentId);
const chefOf = (world: string, documentId = 'r1') => graph.targets('restaurant', 'chef', world, documentId);
const restaurantsOf = (world: string, chef: string) => graph.sources('restaurant', 'chef', world, chef);

describe('order and slots', () => {
  beforeEach(() => {
    graph.given(...documents('tag', 'a', 'b', 'c', 'd', 'e'), ...documents('restaurant', 'r1', 'r2'));
  });

  it('sets in order, without duplicates', () => {
    graph.given(relate('restaurant', 'r1', set('tags', 'c', 'a', 'c', 'b')));
    expect(tagsOf('draft')).toEqual(['c', 'a', 'b']);
  });

  it('connects at the start, at the end, before and after', () => {
    const nextTo = (documentId: string, at = 'before'): Json => ({ at, documentId, locale: null });
    graph.given(relate('restaurant', 'r1', set('tags', 'a', 'b')));
    graph.given(relate('restaurant', 'r1', connect('tags', 'c', { at: 'start' })));
    graph.given(relate('restaurant', 'r1', connect('tags', 'd', nextTo('b'))));
    expect(tagsOf('draft')).toEqual(['c', 'a', 'd', 'b']);
    graph.given(relate('restaurant', 'r1', connect('tags', 'e', nextTo('c', 'after'))));
    expect(tagsOf('draft')).toEqual(['c', 'e', 'a', 'd', 'b']);
  });

  it('moves a document that is connected again, and appends it if its position is gone', () => {
    graph.given(relate('restaurant', 'r1', set('tags', 'a', 'b', 'c')));
    graph.given(relate('restaurant', 'r1', connect('tags', 'a')));
    expect(tagsOf('draft')).toEqual(['b', 'c', 'a']);
    graph.given(
      relate('restaurant', 'r1', connect('tags', 'b', { at: 'before', documentId: 'e', locale: null })),
    );
    expect(tagsOf('draft')).toEqual(['c', 'a', 'b']);
  });

  it('finds a slot between two neighbours any number of times', () => {
    graph.given(relate('restaurant', 'r1', set('tags', 'a', 'b')));
    for (let i = 0; i < 120; i++) {
      const tag = i % 2 === 0 ? 'c' : 'd';
      graph.given(
        relate('restaurant', 'r1', connect('tags', tag, { at: 'after', documentId: 'a', locale: null })),
      );
    }
    expect(tagsOf('draft')).toEqual(['a', 'd', 'c', 'b']);
  });

  it('disconnects; a target that is connected in the same operation stays and moves', () => {
    graph.given(relate('restaurant', 'r1', set('tags', 'a', 'b', 'c')));
    graph.given(relate('restaurant', 'r1', disconnect('tags', 'b')));
    expect(tagsOf('draft')).toEqual(['a', 'c']);
    const both = { ...connect('tags', 'a'), disconnect: [{ documentId: 'a', locale: null }] };
    graph.given(relate('restaurant', 'r1', both));
    expect(tagsOf('draft')).toEqual(['c', 'a']);
  });

  it('keeps the order on the other side when a list is set again', () => {
    graph.given(relate('restaurant', 'r1', set('tags', 'a')), relate('restaurant', 'r2', set('tags', 'a')));
    graph.given(relate('restaurant', 'r1', set('tags', 'b', 'a')));
    expect(graph.sources('restaurant', 'tags', 'draft', 'a')).toEqual(['r1', 'r2']);
    graph.given(relate('tag', 'a', set('restaurants', 'r2', 'r1')));
    expect(graph.sources('restaurant', 'tags', 'draft', 'a')).toEqual(['r2', 'r1']);
    expect(tagsOf('draft')).toEqual(['b', 'a']);
  });

  it('sends nothing to the index when nothing changes', () => {
    graph.given(relate('restaurant', 'r1', set('tags', 'a', 'b')));
    expect(graph.given(relate('restaurant', 'r1', set('tags', 'a', 'b'))).links).toEqual([]);
  });
});

describe('cardinality', () => {
  beforeEach(() => {
    graph.given(
      ...documents('chef', 'h1', 'h2'),
      ...documents('restaurant', 'r1', 'r2'),
      ...documents('menu', 'm1', 'm2'),
    );
  });

  it('uses the last of several for a to-one relation; a one-way relation takes no target from another source', () => {
    graph.given(relate('restaurant', 'r1', set('chef', 'h1', 'h2')));
    expect(chefOf('draft')).toEqual(['h2']);
    graph.given(...documents('restaurant', 'r3'), relate('restaurant', 'r1', set('similar', 'r3')));
    graph.given(relate('restaurant', 'r2', set('similar', 'r3')));
    expect(graph.sources('restaurant', 'similar', 'draft', 'r3')).toEqual(['r1', 'r2']);
  });

  it('gives a child one parent, from either side', () => {
    graph.given(relate('restaurant', 'r1', set('chef', 'h1')), relate('restaurant', 'r2', set('chef', 'h1')));
    expect(restaurantsOf('draft', 'h1')).toEqual(['r1', 'r2']);
    graph.given(relate('chef', 'h2', connect('restaurants', 'r1')));
    expect([restaurantsOf('draft', 'h1'), restaurantsOf('draft', 'h2')]).toEqual([['r2'], ['r1']]);
    graph.given(relate('chef', 'h1', set('restaurants', 'r1')));
    expect([restaurantsOf('draft', 'h1'), restaurantsOf('draft', 'h2')]).toEqual([['r1'], []]);
  });

  it('takes targets from other sources on both sides of a oneToOne', () => {
    const menus = () => ['r1', 'r2'].map((id) => graph.targets('restaurant', 'menu', 'draft', id)[0]);
    graph.given(relate('restaurant', 'r1', set('menu', 'm1')), relate('restaurant', 'r2', set('menu', 'm2')));
    graph.given(relate('restaurant', 'r2', set('menu', 'm1')));
    expect(menus()).toEqual([undefined, 'm1']);
    graph.given(relate('menu', 'm2', set('restaurant', 'r2')));
    expect(menus()).toEqual([undefined, 'm2']);
    graph.given(relate('menu', 'm2', set('restaurant')));
    expect(menus()).toEqual([undefined, undefined]);
  });

  it('works within one type', () => {
    graph.given(created('chef', 'h3', { relations: [set('mentor', 'h3'), set('mentees', 'h1', 'h2')] }));
    expect(graph.sources('chef', 'mentor', 'draft', 'h3').sort()).toEqual(['h1', 'h2']);
  });
});

describe('worlds', () => {
  it('shows a link only while both rows exist, in both directions', () => {
    graph.given(...documents('chef', 'h1'), ...documents('restaurant', 'r1'));
    graph.given(relate('restaurant', 'r1', set('chef', 'h1')), published('restaurant', 'r1'));
    expect([chefOf('draft'), chefOf('published')]).toEqual([['h1'], []]);
    graph.given(published('chef', 'h1'));
    expect(chefOf('published')).toEqual(['h1']);
    graph.given(unpublished('chef', 'h1'));
    expect(chefOf('published')).toEqual([]);
    graph.given(published('chef', 'h1'));
    expect(chefOf('published')).toEqual(['h1']);
    graph.given(deleted('chef', 'h1'), ...documents('chef', 'h1'), published('chef', 'h1'));
    expect([chefOf('draft'), chefOf('published')]).toEqual([[], []]);
  });

  it('waits for a target that is linked before it is created', () => {
    graph.given(created('restaurant', 'r1', { relations: [set('tags', 'a')] }));
    expect(tagsOf('draft')).toEqual([]);
    graph.given(...documents('tag', 'a'));
    expect(tagsOf('draft')).toEqual(['a']);
  });

  it('edits the draft world; publishing copies what the entry owns, with its order', () => {
    graph.given(...documents('tag', 'a', 'b'), ...documents('restaurant', 'r1'));
    graph.given(relate('restaurant', 'r1', set('tags', 'b', 'a')));
    expect(tagsOf('published')).toEqual([]);
    graph.given(published('restaurant', 'r1'));
    graph.given(relate('restaurant', 'r1', set('tags', 'a')));
    expect([tagsOf('draft'), tagsOf('published')]).toEqual([['a'], ['b', 'a']]);
    graph.given(published('restaurant', 'r1'));
    expect(tagsOf('published')).toEqual(['a']);
  });

  it('edits both worlds from a type without draft & publish, on either side', () => {
    graph.given(
      ...documents('restaurant', 'r1', 'r2'),
      published('restaurant', 'r1'),
      published('restaurant', 'r2'),
    );
    graph.given(created('review', 'v1', { relations: [set('restaurant', 'r1')] }));
    const reviewed = (world: string) => graph.targets('review', 'restaurant', world, 'v1');
    expect([reviewed('draft'), reviewed('published')]).toEqual([['r1'], ['r1']]);
    graph.given(created('tag', 'a', { relations: [set('restaurants', 'r2')] }));
    expect([tagsOf('draft', 'r2'), tagsOf('published', 'r2')]).toEqual([['a'], ['a']]);
  });

  it('keeps an unpublished edit of the inverse side out of the published world until either end is published', () => {
    graph.given(
      ...documents('chef', 'h1', 'h2'),
      created('restaurant', 'r1', { relations: [set('chef', 'h1')] }),
    );
    graph.given(published('chef', 'h1'), published('chef', 'h2'), published('restaurant', 'r1'));
    graph.given(relate('chef', 'h2', connect('restaurants', 'r1')));
    expect([chefOf('draft'), chefOf('published')]).toEqual([['h2'], ['h1']]);
    graph.given(published('chef', 'h1'));
    expect(chefOf('published')).toEqual(['h1']);
    graph.given(published('chef', 'h2'));
    expect(chefOf('published')).toEqual(['h2']);
  });

  it('publishing the inverse side publishes its own edits, never those of the owner', () => {
    graph.given(...documents('chef', 'h1', 'h2'), ...documents('restaurant', 'r1', 'r2'));
    for (const id of ['h1', 'h2']) graph.given(published('chef', id));
    for (const id of ['r1', 'r2']) graph.given(published('restaurant', id));
    graph.given(
      relate('restaurant', 'r1', set('chef', 'h1')),
      relate('chef', 'h1', connect('restaurants', 'r2')),
    );
    graph.given(published('chef', 'h1'));
    expect(restaurantsOf('draft', 'h1')).toEqual(['r1', 'r2']);
    expect(restaurantsOf('published', 'h1')).toEqual(['r2']);
    graph.given(
      relate('chef', 'h1', disconnect('restaurants', 'r2')),
      relate('restaurant', 'r2', set('chef', 'h2')),
    );
    graph.given(published('chef', 'h1'));
    expect([restaurantsOf('published', 'h1'), restaurantsOf('published', 'h2')]).toEqual([[], []]);
    graph.given(published('restaurant', 'r2'));
    expect(restaurantsOf('published', 'h2')).toEqual(['r2']);
  });

  it('publishing an entry keeps a link to it that the draft of the other end has moved to itself', () => {
    const mentorOf = (world: string) => graph.targets('chef', 'mentor', world, 'h2');
    const menteesOf = (world: string, mentor: string) => graph.sources('chef', 'mentor', world, mentor);
    graph.given(...documents('chef', 'h1', 'h2'), relate('chef', 'h2', set('mentor', 'h1')));
    graph.given(published('chef', 'h1'), published('chef', 'h2'));
    graph.given(relate('chef', 'h2', set('mentor', 'h2')), published('chef', 'h1'));
    expect([mentorOf('draft'), menteesOf('draft', 'h1'), menteesOf('draft', 'h2')]).toEqual([
      ['h2'],
      [],
      ['h2'],
    ]);
    expect([mentorOf('published'), menteesOf('published', 'h1')]).toEqual([['h1'], ['h2']]);
    graph.given(published('chef', 'h2'));
    expect([mentorOf('published'), menteesOf('published', 'h1')]).toEqual([['h2'], []]);
    expect(menteesOf('published', 'h2')).toEqual(['h2']);
  });

  it('publishing the owner settles the inverse edits of its links', () => {
    graph.given(...documents('chef', 'h1'), ...documents('restaurant', 'r1'), published('chef', 'h1'));
    graph.given(relate('chef', 'h1', connect('restaurants', 'r1')), published('restaurant', 'r1'));
    expect(chefOf('published')).toEqual(['h1']);
    graph.given(relate('restaurant', 'r1', set('chef')), published('chef', 'h1'));
    expect([chefOf('draft'), chefOf('published')]).toEqual([[], ['h1']]);
  });

  it('a published oneToOne link exists once: publishing takes it from the document that had it', () => {
    graph.given(...documents('menu', 'm1'), created('restaurant', 'r1', { relations: [set('menu', 'm1')] }));
    graph.given(
      created('restaurant', 'r2'),
      published('menu', 'm1'),
      published('restaurant', 'r1'),
      published('restaurant', 'r2'),
    );
    graph.given(relate('restaurant', 'r2', set('menu', 'm1')));
    expect(graph.sources('restaurant', 'menu', 'published', 'm1')).toEqual(['r1']);
    graph.given(published('restaurant', 'r2'));
    expect(graph.sources('restaurant', 'menu', 'published', 'm1')).toEqual(['r2']);
  });

  it('discarding a draft restores its own links and its edits of inverse sides, with the links that those took from others', () => {
    graph.given(...documents('chef', 'h1', 'h2'), ...documents('tag', 'a', 'b'));
    graph.given(created('restaurant', 'r1', { relations: [set('chef', 'h1'), set('tags', 'a')] }));
    graph.given(published('chef', 'h1'), published('chef', 'h2'), published('restaurant', 'r1'));
    graph.given(
      relate('restaurant', 'r1', set('tags', 'b')),
      relate('chef', 'h2', connect('restaurants', 'r1')),
    );
    graph.given(discarded('chef', 'h2'));
    expect([chefOf('draft'), chefOf('published')]).toEqual([['h1'], ['h1']]);
    expect(tagsOf('draft')).toEqual(['b']);
    graph.given(discarded('restaurant', 'r1'));
    expect([tagsOf('draft'), tagsOf('published')]).toEqual([['a'], ['a']]);
  });

  it('unpublishing removes the published links that it owns, and keeps the others for later', () => {
    graph.given(...documents('chef', 'h1'), created('restaurant', 'r1', { relations: [set('chef', 'h1')] }));
    graph.given(created('review', 'v1', { relations: [set('restaurant', 'r1')] }));
    graph.given(published('chef', 'h1'), published('restaurant', 'r1'), unpublished('restaurant', 'r1'));
    graph.given(relate('restaurant', 'r1', set('chef')), published('restaurant', 'r1'));
    expect(chefOf('published')).toEqual([]);
    expect(graph.targets('review', 'restaurant', 'published', 'v1')).toEqual(['r1']);
  });
});

describe('links for the write side', () => {
  it('gives draft or live targets from either side, in order, with or without rows', () => {
    const { reader } = graph.graph;
    graph.given(...documents('restaurant', 'r1', 'r2'), ...documents('chef', 'h1'));
    graph.given(relate('restaurant', 'r2', set('chef', 'h1')), relate('restaurant', 'r1', set('chef', 'h1')));
    const ids = (name: string, documentId: string, attribute: string) =>
      reader
        .linkedTargets(`api::${name}.${name}`, documentId, null, attribute)
        .map((target) => target.documentId);
    expect(ids('chef', 'h1', 'restaurants')).toEqual(['r2', 'r1']);
    expect(ids('restaurant', 'r1', 'chef')).toEqual(['h1']);
    graph.given(relate('restaurant', 'r1', set('tags', 'nowhere')));
    expect(ids('restaurant', 'r1', 'tags')).toEqual(['nowhere']);
    expect(ids('restaurant', 'r9', 'tags')).toEqual([]);
  });
});
