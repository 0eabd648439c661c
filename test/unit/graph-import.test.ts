import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { EntryImported, VarveEvent } from '../../shared/document/events.ts';
import { changed, created, openTestGraph, published, type TestGraph, uid } from './graph-fixture.ts';

let graph: TestGraph;
beforeEach(() => {
  graph = openTestGraph();
});
afterEach(() => graph.close());

const AT = '2020-01-02T03:04:05.678Z';
const LATER = '2020-02-02T03:04:05.678Z';

type Row = Partial<EntryImported['data']> & Pick<EntryImported['data'], 'version'>;

function imported(name: string, documentId: string, row: Row): VarveEvent {
  const publishedAt = row.version === 'draft' ? null : AT;
  const empty = { locale: null, createdAt: AT, updatedAt: AT, publishedAt, values: {}, relations: [] };
  return { type: 'entry-imported', data: { type: uid(name), documentId, ...empty, ...row } };
}

function links(attribute: string, ...targets: readonly (readonly [documentId: string, order?: number])[]) {
  const linked = targets.map(([documentId, order]) => ({
    ...{ documentId, locale: null },
    ...(order === undefined ? {} : { order }),
  }));
  return { attribute, targets: linked };
}

describe('an imported row', () => {
  it('has the id and the times of the event, only in its version', () => {
    graph.given(
      imported('chef', 'c1', { version: 'draft', id: 70, values: { name: 'Draft' }, updatedAt: LATER }),
      imported('chef', 'c1', { version: 'published', id: 31, values: { name: 'Public' } }),
    );
    expect(graph.row('chef', 'c1', 'draft')).toMatchObject({
      ...{ id: 70, name: 'Draft', createdAt: AT, updatedAt: LATER, publishedAt: null },
    });
    expect(graph.row('chef', 'c1', 'published')).toMatchObject({ id: 31, name: 'Public', publishedAt: AT });
  });

  it('keeps the ids of its components, and later ids continue above all of them', () => {
    const address = {
      id: 500,
      city: 'Oslo',
      geo: { id: 9, lat: 1 },
      country: [{ documentId: 'x', locale: null }],
    };
    graph.given(
      imported('country', 'x', { version: 'live', id: 3 }),
      imported('restaurant', 'r1', { version: 'published', id: 8, values: { address } }),
      created('restaurant', 'r2', { values: { address: { city: 'Rome', geo: { lat: 2 } } } }),
      created('country', 'y'),
    );
    const components = graph.graph.reader.entries(uid('restaurant'), 'r1').map(({ values }) => values);
    expect(components).toMatchObject([{ address }]);
    const [later] = graph.graph.reader.entries(uid('restaurant'), 'r2');
    expect(later).toMatchObject({ id: 9, values: { address: { id: 501, geo: { id: 10 } } } });
    expect(graph.row('country', 'y', 'live')).toMatchObject({ id: 4 });
  });

  it('orders links by the slots of both ends, in the worlds of its version', () => {
    graph.given(
      ...['t1', 't2'].map((tag) => imported('tag', tag, { version: 'live' })),
      ...['r1', 'r2', 'r3'].map((name, at) =>
        imported('restaurant', name, {
          version: 'draft',
          relations: [links('tags', ['t2', 3 - at], ['t1', at + 1])],
        }),
      ),
      imported('restaurant', 'r1', { version: 'published', relations: [links('tags', ['t1'])] }),
    );
    const { reader } = graph.graph;
    const targets = (type: string, documentId: string, attribute: string) =>
      reader.linkedTargets(uid(type), documentId, null, attribute).map((target) => target.documentId);
    expect(targets('restaurant', 'r1', 'tags')).toEqual(['t2', 't1']);
    expect(targets('tag', 't1', 'restaurants')).toEqual(['r1', 'r2', 'r3']);
    expect(targets('tag', 't2', 'restaurants')).toEqual(['r3', 'r2', 'r1']);
    const inPublished = [...graph.index.links.values()].filter(
      ({ world, source }) => world === 'published' && source !== undefined,
    );
    expect(inPublished).toHaveLength(1);
  });

  it('replaces the earlier version, with its links and unique values', () => {
    graph.given(
      imported('tag', 't1', { version: 'live' }),
      imported('tag', 't2', { version: 'live' }),
      imported('restaurant', 'r1', {
        ...({ version: 'published', id: 5, values: { name: 'Old', stars: 1 } } as const),
        relations: [links('tags', ['t1'])],
      }),
      imported('restaurant', 'r1', {
        ...({ version: 'published', id: 5, values: { name: 'New' } } as const),
        relations: [links('tags', ['t2'])],
      }),
    );
    expect(graph.row('restaurant', 'r1', 'published')).toMatchObject({ id: 5, name: 'New', stars: null });
    expect([...graph.index.links.values()]).toHaveLength(1);
    const owner = (name: string) =>
      graph.graph.reader.documentWithUnique({
        type: uid('restaurant'),
        place: 'name',
        locale: null,
        text: name,
      });
    expect([owner('Old'), owner('New')]).toEqual([undefined, 'r1']);
  });

  it('is modified if its draft comes after its published version', () => {
    const states = (documentId: string) =>
      [...graph.index.rows.values()]
        .filter(({ source }) => Buffer.from(source).toString().includes(documentId))
        .map(({ fields }) => fields['$publication']);
    const draft = (name: string) => imported('chef', name, { version: 'draft' });
    const shown = (name: string) => imported('chef', name, { version: 'published' });
    graph.given(draft('same'), shown('same'), shown('edited'), draft('edited'), draft('hidden'));
    expect(states('same')).toEqual(['published', 'published']);
    expect(states('edited')).toEqual(['modified', 'modified']);
    expect(states('hidden')).toEqual(['never-published']);
  });

  it('is changed and published afterwards like any other', () => {
    graph.given(
      imported('chef', 'c1', { version: 'draft', id: 2, values: { name: 'A' } }),
      imported('chef', 'c1', { version: 'published', id: 4, values: { name: 'A' } }),
      changed('chef', 'c1', { values: { name: 'B' } }),
      published('chef', 'c1'),
    );
    expect(graph.row('chef', 'c1', 'published')).toMatchObject({ id: 5, name: 'B', createdAt: AT });
  });

  it('is refused in a version that its type does not have', () => {
    expect(() => graph.given(imported('tag', 't1', { version: 'draft' }))).toThrow(
      'a type without draft & publish has no draft version',
    );
  });
});
