import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openContentGraph } from '../../projections/graph/content-graph.ts';
import type { VarveEvent } from '../../shared/document/events.ts';
import type { Json } from '../../shared/json.ts';
import {
  changed,
  created,
  createLog,
  DEFINITIONS,
  definition,
  deleted,
  discarded,
  foldBatches,
  published,
  SCHEMAS,
  set,
  uid,
} from './graph-fixture.ts';
import { graphOutcome } from './graph-outcome.ts';

/** Values that a content type does not show for a while. Each test compares a graph that followed the log with a rebuilt one. */
let folder: string;
let log: ReturnType<typeof createLog>;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'varve-kept-'));
  log = createLog();
  log.add(...DEFINITIONS);
});
afterEach(() => rmSync(folder, { recursive: true }));

type Attributes = { readonly [name: string]: Json };

function redefined(name: string, attributes: Attributes, more: Attributes = {}): VarveEvent {
  const schema = SCHEMAS[name] as unknown as { readonly attributes: Attributes };
  const merged = Object.entries({ ...schema.attributes, ...attributes }).filter(([, each]) => each !== null);
  return definition(name, { ...schema, attributes: Object.fromEntries(merged), ...more } as Json);
}

/** Returns the value of an attribute in each version. */
function valuesOf(type: string, documentId: string, attribute: string): readonly unknown[] {
  const { read, close } = graphOutcome(folder, log.all());
  const values = read(type, documentId).map(({ values }) => values[attribute] ?? null);
  close();
  return values;
}

const named = (name: string) => ({ values: { name } });
const hidden = redefined('chef', { name: null });

describe('an attribute that is gone and comes back', () => {
  beforeEach(() => {
    log.add(created('chef', 'h', named('A')), published('chef', 'h'), changed('chef', 'h', named('B')));
  });

  it('has the values of both versions', () => {
    log.add(hidden, definition('chef'));
    expect(valuesOf('chef', 'h', 'name')).toEqual(['B', 'A']);
  });

  it('was published and discarded with its entry meanwhile', () => {
    log.add(hidden, published('chef', 'h'), definition('chef'));
    expect(valuesOf('chef', 'h', 'name')).toEqual(['B', 'B']);
    log.add(changed('chef', 'h', named('C')), hidden, discarded('chef', 'h'), definition('chef'));
    expect(valuesOf('chef', 'h', 'name')).toEqual(['B', 'B']);
  });

  it('is gone with an entry that was deleted and created again meanwhile', () => {
    log.add(hidden, deleted('chef', 'h'), created('chef', 'h'), definition('chef'));
    expect(valuesOf('chef', 'h', 'name')).toEqual([null]);
  });

  it('is that of an import, which replaced the version meanwhile', () => {
    const [createdAt, updatedAt] = ['2024-01-01T00:00:00.000Z', '2024-01-02T00:00:00.000Z'];
    const row = { type: uid('chef'), documentId: 'h', locale: null, version: 'draft' } as const;
    const facts = { createdAt, updatedAt, publishedAt: null, values: {}, relations: [] };
    log.add(hidden, { type: 'entry-imported', data: { ...row, ...facts } }, definition('chef'));
    expect(valuesOf('chef', 'h', 'name')).toEqual([null, 'A']);
  });

  it('has its last value if it had another type meanwhile, and was edited', () => {
    log.add(redefined('chef', { name: { type: 'integer' } }), changed('chef', 'h', { values: { name: 7 } }));
    log.add(definition('chef'));
    expect(valuesOf('chef', 'h', 'name')).toEqual(['7', 'A']);
  });

  it('is null if it was cleared while it had another type', () => {
    log.add(
      redefined('chef', { name: { type: 'integer' } }),
      changed('chef', 'h', { values: { name: null } }),
    );
    log.add(definition('chef'));
    expect(valuesOf('chef', 'h', 'name')).toEqual([null, 'A']);
  });

  it('comes back under a new name that names the old one', () => {
    const fullName = { type: 'string', pluginOptions: { varve: { renamedFrom: 'name' } } };
    log.add(hidden, redefined('chef', { name: null, fullName }));
    expect(valuesOf('chef', 'h', 'fullName')).toEqual(['B', 'A']);
  });

  it('comes back if a renaming is taken back', () => {
    const fullName = { type: 'string', pluginOptions: { varve: { renamedFrom: 'name' } } };
    log.add(redefined('chef', { name: null, fullName }), changed('chef', 'h', { values: { fullName: 'C' } }));
    log.add(definition('chef'));
    expect(valuesOf('chef', 'h', 'name')).toEqual(['C', 'A']);
  });
});

describe('components', () => {
  const link = (documentId: string) => [{ documentId, locale: null }];
  beforeEach(() => {
    const address = { city: 'Oslo', geo: { lat: 1 }, country: link('c') };
    const sections = [
      { __component: 'common.geo', lat: 1 },
      { __component: 'blocks.teaser', label: 'x', chefs: link('h') },
      { __component: 'common.geo', lat: 2 },
    ];
    log.add(created('country', 'c'), created('chef', 'h'));
    log.add(
      created('restaurant', 'r', { values: { address, sections } as never }),
      published('restaurant', 'r'),
    );
  });

  it.each([
    ['address', { address: null }],
    ['sections', { sections: null }],
    ['sections', { sections: { type: 'dynamiczone', components: ['common.geo'] } }],
  ])('come back in %s with their ids, links and order', (attribute, change) => {
    const before = valuesOf('restaurant', 'r', attribute);
    log.add(redefined('restaurant', change), definition('restaurant'));
    expect(valuesOf('restaurant', 'r', attribute)).toEqual(before);
  });

  it.each([
    ['address', 'country', 'country', 'c', { address: null }],
    ['sections', 'chefs', 'chef', 'h', { sections: null }],
  ])('have no link in %s to an entry that was deleted meanwhile', (attribute, relation, type, id, change) => {
    const linked = () => JSON.stringify(valuesOf('restaurant', 'r', attribute)).includes(`"${relation}":[{`);
    expect(linked()).toBe(true);
    log.add(redefined('restaurant', change), deleted(type, id), created(type, id), definition('restaurant'));
    expect(linked()).toBe(false);
  });

  it('have no link to an entry that was deleted after a publication meanwhile', () => {
    const hiding = redefined('restaurant', { sections: null });
    log.add(hiding, published('restaurant', 'r'), deleted('chef', 'h'), definition('restaurant'));
    const live = valuesOf('restaurant', 'r', 'sections')[1];
    expect(JSON.stringify(live)).toContain('"chefs":[]');
  });

  it('have other ids in each version after a publication meanwhile', () => {
    log.add(changed('restaurant', 'r', { values: { address: { city: 'Bergen' } } as never }));
    log.add(
      redefined('restaurant', { address: null }),
      published('restaurant', 'r'),
      definition('restaurant'),
    );
    const [draft, live] = valuesOf('restaurant', 'r', 'address') as { id: number; city: string }[];
    expect([draft?.city, live?.city]).toEqual(['Bergen', 'Bergen']);
    expect(draft?.id).not.toBe(live?.id);
  });
});

describe('components that two content types define', () => {
  /** Returns the definition of a type in which an address has no country. */
  const withoutCountry = (name: string): VarveEvent => {
    const { type, data } = definition(name) as Extract<VarveEvent, { type: 'content-type-defined' }>;
    const address = data.components['common.address'] as unknown as { readonly attributes: Attributes };
    const { country: _, ...attributes } = address.attributes;
    const components = { ...data.components, 'common.address': { ...address, attributes } as Json };
    return { type, data: { ...data, components } };
  };

  it('keep their links if one type follows after another change of its own', () => {
    const place = { city: 'Oslo', country: [{ documentId: 'c', locale: null }] };
    log.add(created('country', 'c'), created('article', 'a', { values: { place } as never }, 'en'));
    const before = valuesOf('article', 'a', 'place');
    expect(JSON.stringify(before)).toContain('"country":[{');
    log.add(redefined('article', {}, { pluginOptions: {} }));
    log.add(definition('article'), withoutCountry('restaurant'), withoutCountry('article'));
    expect(JSON.stringify(valuesOf('article', 'a', 'place'))).not.toContain('"country":[{');
    log.add(definition('restaurant'), definition('article'));
    expect(valuesOf('article', 'a', 'place')).toEqual(before);
  });
});

describe('relations', () => {
  it('come back if their target is renamed away and back, also after a publication', () => {
    log.add(created('chef', 'h1'), created('chef', 'h2'), published('chef', 'h1'), published('chef', 'h2'));
    log.add(created('restaurant', 'r', { relations: [set('chef', 'h1')] }), published('restaurant', 'r'));
    log.add(changed('restaurant', 'r', { relations: [set('chef', 'h2')] }));
    log.add(redefined('restaurant', { chef: null }), redefined('chef', { restaurants: null }));
    log.add(published('restaurant', 'r'), definition('restaurant'), definition('chef'));
    const { links, close } = graphOutcome(folder, log.all());
    expect(links('restaurant', 'r', 'chef')).toEqual([{ documentId: 'h2', locale: null }]);
    expect(links('chef', 'h2', 'restaurants')).toEqual([{ documentId: 'r', locale: null }]);
    close();
  });

  it('have one owner of an exclusive target after a publication meanwhile', () => {
    log.add(created('menu', 'm'), published('menu', 'm'));
    log.add(created('restaurant', 'r', { relations: [set('menu', 'm')] }), published('restaurant', 'r'));
    log.add(created('restaurant', 's', { relations: [set('menu', 'm')] }));
    const without = [redefined('restaurant', { menu: null }), redefined('menu', { restaurant: null })];
    log.add(...without, published('restaurant', 's'), definition('restaurant'), definition('menu'));
    const { links, close } = graphOutcome(folder, log.all());
    expect(links('menu', 'm', 'restaurant')).toEqual([{ documentId: 's', locale: null }]);
    close();
    const graph = openContentGraph(join(folder, 'rebuilt.db'));
    const shown = [...foldBatches(graph.readAll()).links.values()].filter(
      ({ attribute }) => attribute === 'menu',
    );
    graph.close();
    expect(shown.map(({ world }) => world).sort()).toEqual(['draft', 'published']);
  });

  it('have the links of their last edit if they led to another type meanwhile', () => {
    const other = { type: 'relation', relation: 'oneToMany', target: 'api::chef.chef' };
    log.add(created('chef', 'h'), created('restaurant', 'a'), created('restaurant', 'b'));
    log.add(created('restaurant', 'r', { relations: [set('similar', 'a', 'b')] }));
    log.add(created('restaurant', 's', { relations: [set('similar', 'a')] }));
    log.add(redefined('restaurant', { similar: other }));
    log.add(changed('restaurant', 's', { relations: [set('similar', 'h')] }), definition('restaurant'));
    const { links, close } = graphOutcome(folder, log.all());
    expect(links('restaurant', 'r', 'similar').map(({ documentId }) => documentId)).toEqual(['a', 'b']);
    expect(links('restaurant', 's', 'similar')).toEqual([]);
    close();
  });
});

describe('whole rows', () => {
  const rows = (type: string, documentId: string, attribute: string) => {
    const { read, close } = graphOutcome(folder, log.all());
    const found = read(type, documentId).map(({ version, locale, id, values }) => [
      ...[version, locale, id],
      values[attribute],
    ]);
    close();
    return found;
  };

  it('come back with draft & publish, unless the entry was edited meanwhile', () => {
    log.add(created('chef', 'h', named('A')), published('chef', 'h'), changed('chef', 'h', named('B')));
    log.add(created('chef', 'never', named('C')));
    log.add(created('chef', 'edited', named('D')), published('chef', 'edited'));
    log.add(changed('chef', 'edited', named('E')));
    const before = rows('chef', 'h', 'name');
    log.add(redefined('chef', {}, { options: { draftAndPublish: false } }));
    expect(rows('chef', 'never', 'name')).toEqual([]);
    log.add(changed('chef', 'edited', named('F')), definition('chef'));
    expect(rows('chef', 'h', 'name')).toEqual(before);
    expect(rows('chef', 'never', 'name')).toEqual([['draft', null, 3, 'C']]);
    expect(rows('chef', 'edited', 'name').map(([version, , , name]) => [version, name])).toEqual([
      ['draft', 'F'],
      ['published', 'F'],
    ]);
  });

  const label = (text: string, locale: string) => created('topic', 'o', { values: { label: text } }, locale);

  it('come back with locales, unless the document was deleted meanwhile', () => {
    log.add(label('one', 'en'), label('eins', 'de'));
    const before = rows('topic', 'o', 'label');
    log.add(redefined('topic', {}, { pluginOptions: {} }), definition('topic'));
    expect(rows('topic', 'o', 'label')).toEqual(before);
    log.add(redefined('topic', {}, { pluginOptions: {} }), deleted('topic', 'o'), definition('topic'));
    expect(rows('topic', 'o', 'label')).toEqual([]);
  });

  it('give way to an entry that an earlier release has created again', () => {
    log.add(label('one', 'en'), label('eins', 'de'));
    log.add(redefined('topic', {}, { pluginOptions: {} }), definition('topic'), label('drei', 'de'));
    expect(rows('topic', 'o', 'label')).toEqual([
      ['live', 'de', 3, 'drei'],
      ['live', 'en', 1, 'one'],
    ]);
  });
});
