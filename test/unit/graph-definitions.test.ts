import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { VarveEvent } from '../../shared/document/events.ts';
import type { Json } from '../../shared/json.ts';
import {
  changed,
  created,
  definition,
  openTestGraph,
  published,
  SCHEMAS,
  set,
  type TestGraph,
  unpublished,
} from './graph-fixture.ts';

let graph: TestGraph;
beforeEach(() => {
  graph = openTestGraph();
});
afterEach(() => graph.close());

type Schema = { readonly attributes: { readonly [name: string]: Json }; readonly options: Json };

/** Returns the definition of a type with some attributes replaced (null removes one) and other options. */
function redefined(name: string, attributes: { readonly [name: string]: Json }, options?: Json) {
  const schema = SCHEMAS[name] as unknown as Schema;
  const merged = Object.fromEntries(
    Object.entries({ ...schema.attributes, ...attributes }).filter(([, attribute]) => attribute !== null),
  );
  const changedSchema = { ...schema, attributes: merged, options: options ?? schema.options };
  return definition(name, changedSchema as Json);
}

describe('a changed content type', () => {
  it('presents its stored rows by the new definition, from that position on', () => {
    graph.given(created('restaurant', 'r1', { values: { name: 'A', secret: 's', stars: 3 } }));
    graph.given(
      redefined('restaurant', {
        secret: { type: 'string' },
        name: { type: 'string', private: true },
        stars: null,
      }),
    );
    expect(graph.row('restaurant', 'r1', 'draft')).toMatchObject({ id: 1, secret: 's' });
    expect(graph.row('restaurant', 'r1', 'draft')).not.toHaveProperty('name');
    expect(graph.row('restaurant', 'r1', 'draft')).not.toHaveProperty('stars');
    graph.given(definition('restaurant'));
    expect(graph.row('restaurant', 'r1', 'draft')).toMatchObject({ id: 1, name: 'A', stars: 3 });
  });

  it('drops values of another type, and applies the new unique attributes', () => {
    graph.given(
      created('tag', 't1', { values: { name: 'A' } }),
      created('country', 'c1', { values: { name: 'Peru' } }),
    );
    graph.given(
      redefined('tag', { name: { type: 'string', unique: true } }),
      redefined('country', { name: { type: 'integer' } }),
    );
    const holder = graph.graph.reader.documentWithUnique({
      type: 'api::tag.tag',
      place: 'name',
      locale: null,
      text: 'A',
    });
    expect(holder).toBe('t1');
    expect(graph.row('country', 'c1', 'live')?.['name']).toBeNull();
    expect(() =>
      graph.graph.reader.documentWithUnique({
        type: 'api::country.country',
        place: 'name',
        locale: null,
        text: 'Peru',
      }),
    ).toThrow('is not unique');
  });

  it('applies attributes of components that become unique', () => {
    const holder = (place: string, value: string) =>
      graph.graph.reader.documentWithUnique({
        type: 'api::restaurant.restaurant',
        place,
        locale: null,
        text: value,
      });
    const address = { city: 'Oslo', geo: { lat: 1.5 } };
    graph.given(
      created('restaurant', 'r1', {
        values: { address, sections: [{ __component: 'common.geo', lat: 2 }] },
      }),
      published('restaurant', 'r1'),
    );
    expect(() => holder('address.geo.lat', '1.5')).toThrow('is not unique');
    const { data } = definition('restaurant') as VarveEvent & { type: 'content-type-defined' };
    const geo = { info: { displayName: 'geo' }, attributes: { lat: { type: 'float', unique: true } } };
    graph.given({
      type: 'content-type-defined',
      data: { ...data, components: { ...data.components, 'common.geo': geo } },
    });
    expect(holder('address.geo.lat', '1.5')).toBe('r1');
    expect(holder('sections[common.geo].lat', '2')).toBe('r1');
    expect(holder('sections[common.geo].lat', '1.5')).toBeUndefined();
    graph.given(unpublished('restaurant', 'r1'));
    expect(holder('address.geo.lat', '1.5')).toBeUndefined();
  });

  it('shows the links of a removed relation again when it is back', () => {
    graph.given(created('tag', 'a'), created('restaurant', 'r1', { relations: [set('tags', 'a')] }));
    const links = () => graph.targets('restaurant', 'tags', 'draft', 'r1');
    expect(links()).toEqual(['a']);
    graph.given(redefined('restaurant', { tags: null }), redefined('tag', { restaurants: null }));
    expect(links()).toEqual([]);
    graph.given(
      definition('restaurant'),
      definition('tag'),
      changed('restaurant', 'r1', { values: { name: 'B' } }),
    );
    expect(links()).toEqual(['a']);
  });

  it('reports no change when the definition is the same', () => {
    graph.given(created('restaurant', 'r1'));
    expect(graph.given(definition('restaurant'))).toMatchObject({ rows: [], links: [] });
  });

  it('makes live rows drafts and published rows when draft & publish is switched on', () => {
    graph.given(created('review', 'v1', { values: { title: 'x' }, relations: [set('restaurant', 'r1')] }));
    graph.given(created('restaurant', 'r1'), published('restaurant', 'r1'));
    graph.given(redefined('review', {}, { draftAndPublish: true }));
    expect(graph.row('review', 'v1', 'live')).toBeUndefined();
    expect(graph.row('review', 'v1', 'draft')).toMatchObject({ id: 1, title: 'x', publishedAt: null });
    expect(graph.row('review', 'v1', 'published')).toMatchObject({ id: 2, title: 'x' });
    expect(graph.targets('review', 'restaurant', 'draft', 'v1')).toEqual(['r1']);
    expect(graph.targets('review', 'restaurant', 'published', 'v1')).toEqual(['r1']);
    graph.given(changed('review', 'v1', { values: { title: 'y' } }));
    expect(graph.row('review', 'v1', 'published')?.['title']).toBe('x');
  });

  it('keeps only published rows when draft & publish is switched off', () => {
    graph.given(created('chef', 'h1', { values: { name: 'A' } }), published('chef', 'h1'));
    graph.given(changed('chef', 'h1', { values: { name: 'draft' } }), created('chef', 'h2'));
    graph.given(redefined('chef', {}, { draftAndPublish: false }));
    expect(graph.row('chef', 'h1', 'live')).toMatchObject({ id: 2, name: 'A' });
    expect(graph.row('chef', 'h2', 'live')).toBeUndefined();
    expect(graph.index.rows.size).toBe(1);
  });
});
