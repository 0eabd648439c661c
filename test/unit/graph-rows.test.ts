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
  unpublished,
} from './graph-fixture.ts';

let graph: TestGraph;
beforeEach(() => {
  graph = openTestGraph();
});
afterEach(() => graph.close());

describe('rows', () => {
  it('shows id, documentId, public attributes in schema order, times and no locale', () => {
    graph.given(
      created('restaurant', 'r1', {
        values: {
          name: 'A',
          visits: '9007199254740993',
          opensAt: '08:30:00.500',
          secret: 's',
          extra: { bb: 1, a: 2 },
        },
      }),
    );
    expect(JSON.stringify(graph.row('restaurant', 'r1', 'draft'))).toBe(
      '{"id":1,"documentId":"r1","name":"A","stars":null,"visits":"9007199254740993","opensAt":"08:30:00.5",' +
        '"extra":{"a":2,"bb":1},"createdAt":"2024-01-01T00:00:09.000Z","updatedAt":"2024-01-01T00:00:09.000Z",' +
        '"publishedAt":null}',
    );
    expect(graph.row('restaurant', 'r1', 'published')).toBeUndefined();
  });

  it('gives rows of types without draft & publish their creation as publication, in one row', () => {
    graph.given(created('country', 'c1', { values: { name: 'Peru' } }));
    expect(graph.row('country', 'c1', 'live')).toMatchObject({ publishedAt: '2024-01-01T00:00:09.000Z' });
    expect(graph.index.rows.size).toBe(1);
  });

  it('keeps private values for later events without ever showing them', () => {
    graph.given(created('restaurant', 'r1', { values: { secret: 's' } }));
    graph.given(changed('restaurant', 'r1', { values: { name: 'B' } }));
    expect(graph.graph.reader.entries('api::restaurant.restaurant', 'r1')[0]?.values).toMatchObject({
      secret: 's',
      name: 'B',
    });
    expect(JSON.stringify(graph.row('restaurant', 'r1', 'draft'))).not.toContain('secret');
  });

  it('assigns ids per content type, new ones at each publication, above those of an import', () => {
    graph.given(
      created('restaurant', 'r1', { id: 40 }),
      created('country', 'c1'),
      published('restaurant', 'r1'),
    );
    expect(graph.row('restaurant', 'r1', 'draft')?.['id']).toBe(40);
    expect(graph.row('restaurant', 'r1', 'published')?.['id']).toBe(41);
    graph.given(published('restaurant', 'r1'), created('restaurant', 'r2'));
    expect(graph.row('restaurant', 'r1', 'published')?.['id']).toBe(42);
    expect(graph.row('restaurant', 'r2', 'draft')?.['id']).toBe(43);
    expect(graph.row('country', 'c1', 'live')?.['id']).toBe(1);
  });

  it('finds a document by the current and by an earlier id while its row exists', () => {
    graph.given(created('restaurant', 'r1'), published('restaurant', 'r1'), published('restaurant', 'r1'));
    const target = { documentId: 'r1', locale: null };
    const documentOf = (id: number) => graph.graph.reader.documentOfId('api::restaurant.restaurant', id);
    expect([1, 2, 3].map(documentOf)).toEqual([target, target, target]);
    graph.given(unpublished('restaurant', 'r1'));
    expect([1, 2, 3].map(documentOf)).toEqual([target, undefined, undefined]);
  });

  it('copies the draft at publication and does not change the published row when the draft changes', () => {
    graph.given(created('restaurant', 'r1', { values: { name: 'A' } }), published('restaurant', 'r1'));
    graph.given(changed('restaurant', 'r1', { values: { name: 'B' } }));
    expect(graph.row('restaurant', 'r1', 'draft')).toMatchObject({ name: 'B', publishedAt: null });
    expect(graph.row('restaurant', 'r1', 'published')).toMatchObject({
      name: 'A',
      createdAt: '2024-01-01T00:00:09.000Z',
      publishedAt: '2024-01-01T00:00:10.000Z',
    });
  });

  it('computes the publication state and re-indexes the other row when it changes', () => {
    const states = () =>
      ['draft', 'published'].map((v) => graph.field('restaurant', 'r1', v, '$publication'));
    graph.given(created('restaurant', 'r1'));
    expect(states()).toEqual(['never-published', undefined]);
    expect(graph.field('restaurant', 'r1', 'draft', '$documentPublished')).toBe(false);
    graph.given(published('restaurant', 'r1'));
    expect(states()).toEqual(['published', 'published']);
    expect(graph.field('restaurant', 'r1', 'draft', '$documentPublished')).toBe(true);
    expect(graph.given(changed('restaurant', 'r1', { values: { stars: 1 } })).rows).toHaveLength(2);
    expect(states()).toEqual(['modified', 'modified']);
    expect(graph.given(changed('restaurant', 'r1', { values: { stars: 2 } })).rows).toHaveLength(1);
    graph.given(discarded('restaurant', 'r1'));
    expect(states()).toEqual(['published', 'published']);
    expect(graph.row('restaurant', 'r1', 'draft')?.['stars']).toBeNull();
    graph.given(unpublished('restaurant', 'r1'));
    expect(states()).toEqual(['never-published', undefined]);
  });

  it('deletes both rows; the document can come back', () => {
    graph.given(created('restaurant', 'r1'), published('restaurant', 'r1'));
    graph.given(deleted('restaurant', 'r1'));
    expect(graph.index.rows.size).toBe(0);
    expect(graph.graph.reader.exists('api::restaurant.restaurant', 'r1')).toBe(false);
    expect(graph.graph.reader.streamRevision('api::restaurant.restaurant', 'r1')).toBe(2n);
    graph.given(created('restaurant', 'r1', { values: { name: 'again' } }));
    expect(graph.row('restaurant', 'r1', 'draft')).toMatchObject({ id: 3, name: 'again' });
  });

  it('knows unique values of published and live rows only', () => {
    const holder = (name: string, except?: string) =>
      graph.graph.reader.documentWithUnique(
        { type: 'api::restaurant.restaurant', place: 'name', locale: null, text: name },
        except,
      );
    graph.given(created('restaurant', 'r1', { values: { name: 'A' } }));
    expect(holder('A')).toBeUndefined();
    graph.given(published('restaurant', 'r1'));
    expect(holder('A')).toBe('r1');
    expect(holder('A', 'r1')).toBeUndefined();
    graph.given(changed('restaurant', 'r1', { values: { name: 'B' } }));
    expect([holder('A'), holder('B')]).toEqual(['r1', undefined]);
    graph.given(published('restaurant', 'r1'));
    expect([holder('A'), holder('B')]).toEqual([undefined, 'r1']);
    graph.given(deleted('restaurant', 'r1'));
    expect(holder('B')).toBeUndefined();
  });

  it('refuses an event that does not fit, undoes its batch, and stops', () => {
    graph.given(created('country', 'c1'));
    expect(() => graph.given(created('country', 'c2'), changed('country', 'c9', {}))).toThrow(
      'entry-changed of api::country.country c9 at position 11 cannot be applied: the entry to change does not exist',
    );
    expect(() => graph.given(created('country', 'c3'))).toThrow('the content graph stopped at an error');
  });
});

describe('components', () => {
  const values = {
    name: 'A',
    address: { city: 'Lima', note: 'n', geo: { lat: 1.5 }, country: [{ documentId: 'c1', locale: null }] },
    sections: [
      { __component: 'blocks.teaser', label: 'x', chefs: [{ documentId: 'h1', locale: null }] },
      { __component: 'common.geo', lat: 2 },
    ],
  };
  const address = (version: string) =>
    [...graph.index.rows.values()].find((row) => row.version === version && 'stars' in row.fields)
      ?.components['address']?.[0];

  it('assigns ids per component kind, shows public scalars, and names the kind in a zone', () => {
    graph.given(created('restaurant', 'r1', { values }));
    const row = [...graph.index.rows.values()][0];
    const zone = row?.components['sections']?.map(({ source }) => Buffer.from(source).toString());
    expect(zone).toEqual([
      '{"__component":"blocks.teaser","id":1,"label":"x"}',
      '{"__component":"common.geo","id":2,"lat":2}',
    ]);
    expect(Buffer.from(address('draft')?.source ?? '').toString()).toBe('{"id":1,"city":"Lima"}');
    expect(address('draft')?.components['geo']?.[0]?.key).toBe(1);
  });

  it('links components of both versions, each with ids of its own', () => {
    graph.given(created('country', 'c1'), created('chef', 'h1'), created('restaurant', 'r1', { values }));
    graph.given(published('restaurant', 'r1'));
    expect([address('draft')?.key, address('published')?.key]).toEqual([1, 2]);
    const country = graph.graph.reader.entries('api::country.country', 'c1')[0]?.key;
    const inside = [...graph.index.links.values()].filter(({ attribute }) => attribute === 'country');
    expect(inside.map(({ world, source, target, rowSet }) => ({ world, source, target, rowSet }))).toEqual([
      {
        world: 'draft',
        source: 1,
        target: country,
        rowSet: { type: 'api::restaurant.restaurant', path: [{ attribute: 'address' }] },
      },
      {
        world: 'published',
        source: 2,
        target: country,
        rowSet: { type: 'api::restaurant.restaurant', path: [{ attribute: 'address' }] },
      },
    ]);
    // The chef is a draft, so it does not exist yet in the published world.
    const chefs = () => [...graph.index.links.values()].filter(({ attribute }) => attribute === 'chefs');
    expect(chefs().map(({ world }) => world)).toEqual(['draft']);
    graph.given(published('chef', 'h1'));
    expect(chefs().map(({ world }) => world)).toEqual(['draft', 'published']);
  });

  it('keeps the id of a component if the event has it, with the relations of the event', () => {
    graph.given(created('country', 'c1'), created('restaurant', 'r1', { values }));
    graph.given(changed('restaurant', 'r1', { values: { address: { id: 1, city: 'Cusco' } } }));
    expect(address('draft')?.key).toBe(1);
    expect(graph.index.links.size).toBe(0);
    graph.given(changed('restaurant', 'r1', { values: { address: { city: 'Puno' } } }));
    expect(address('draft')?.key).toBe(2);
    graph.given(changed('restaurant', 'r1', { values: { address: { id: 77, city: 'Ica' } } }));
    expect(address('draft')?.key).toBe(3);
    graph.given(changed('restaurant', 'r1', { values: { address: null } }));
    expect(address('draft')).toBeUndefined();
  });

  it('gives the write side values with ids and inner links', () => {
    graph.given(
      created('country', 'c1'),
      created('restaurant', 'r1', { values }),
      published('restaurant', 'r1'),
    );
    const entries = graph.graph.reader.entries('api::restaurant.restaurant', 'r1');
    expect(entries.map(({ version }) => version)).toEqual(['draft', 'published']);
    expect(entries[1]?.values).toMatchObject({
      name: 'A',
      address: {
        id: 2,
        city: 'Lima',
        note: 'n',
        geo: { id: 3, lat: 1.5 },
        country: [{ documentId: 'c1', locale: null }],
      },
      sections: [
        { __component: 'blocks.teaser', id: 2, label: 'x', chefs: [{ documentId: 'h1', locale: null }] },
        { __component: 'common.geo', id: 4, lat: 2 },
      ],
    });
  });

  it('drops links from components to a deleted document permanently', () => {
    graph.given(created('country', 'c1'), created('restaurant', 'r1', { values }));
    graph.given(deleted('country', 'c1'), created('country', 'c1'));
    expect([...graph.index.links.values()]).toEqual([]);
    graph.given(published('restaurant', 'r1'), changed('restaurant', 'r1', { relations: [set('tags')] }));
    expect([...graph.index.links.values()]).toEqual([]);
  });
});
