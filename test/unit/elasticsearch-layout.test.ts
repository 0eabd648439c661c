import { describe, expect, it } from 'vitest';
import { compareCodePoints } from '../../shared/read-index/column.ts';
import { storedText, storedValue } from '../../shared/read-index/elasticsearch/documents/stored-value.ts';
import { documentDependencies } from '../../shared/read-index/elasticsearch/elasticsearch-cluster.ts';
import { createLayout } from '../../shared/read-index/elasticsearch/layout/create-layout.ts';
import { createLayouts } from '../../shared/read-index/elasticsearch/layout/create-layouts.ts';
import {
  DEFAULT_DENORMALISE,
  type DenormaliseSettings,
  type Place,
} from '../../shared/read-index/elasticsearch/layout/document-layout.ts';
import {
  FIELD_LIMIT,
  indexDefinition,
  mappingProblem,
} from '../../shared/read-index/elasticsearch/layout/index-definition.ts';
import { createIndexNames } from '../../shared/read-index/elasticsearch/layout/index-names.ts';
import { contentTypeOf, type SchemaRegistry } from '../../shared/schema/schema-registry.ts';
import { AUTHOR, BOOK, libraryRegistry, TAG, TOWN } from '../contract/read-index-library.ts';
import { manyListsRegistry, SECTIONED, sectionsRegistry } from '../support/sections.ts';

const registry = libraryRegistry();

/** Returns the dotted paths of the relations that are copied below a place. */
function copied(place: Place, path: readonly string[] = []): string[] {
  return [...place.steps.values()].flatMap((step) => {
    const here = [...path, step.attribute];
    if (step.kind === 'component') return copied(step.place, here);
    if (step.kind === 'zone') return [...step.components.values()].flatMap((below) => copied(below, here));
    return step.embedded === undefined ? [] : [here.join('.'), ...copied(step.embedded.place, here)];
  });
}

const copiedBy = (type: string, settings: Partial<DenormaliseSettings>) =>
  copied(createLayout(registry, type, { ...DEFAULT_DENORMALISE, ...settings }).root).sort();

function withOptions(type: string, varve: unknown): SchemaRegistry {
  const changed = { ...contentTypeOf(registry, type), varve };
  return { ...registry, contentTypes: new Map([...registry.contentTypes, [type, changed]]) };
}

describe('the layout of documents', () => {
  it('copies to-one chains of two and owned to-many relations of one step', () => {
    expect(copiedBy(AUTHOR, {})).toEqual(['home']);
    expect(copiedBy(TAG, {})).toEqual(['best', 'best.author', 'best.cover.artist']);
    expect(copiedBy(BOOK, { toOne: 1 })).toEqual([
      'author',
      'chapters.about',
      'cover.artist',
      'prequel',
      'related',
      'sequel',
      'tags',
    ]);
  });

  it('ends a chain where it comes to a content type again, unless the settings name it', () => {
    const toOne = { toOne: 3, toMany: 0 };
    expect(copiedBy(BOOK, toOne).filter((path) => path.startsWith('prequel'))).toEqual(['prequel']);
    const named = copiedBy(BOOK, { ...toOne, paths: ['prequel.prequel'] });
    expect(named.filter((path) => path.startsWith('prequel'))).toEqual(['prequel', 'prequel.prequel']);
  });

  it('has one field for the text forms of a row, and one for the keys of a copy', () => {
    const { mappings } = indexDefinition(createLayout(registry, BOOK, DEFAULT_DENORMALISE)) as {
      readonly mappings: { readonly properties: Properties };
    };
    const { x, e } = mappings.properties;
    expect(x).toEqual({ type: 'keyword', doc_values: false });
    const author = e?.properties?.['author']?.properties ?? {};
    expect(Object.keys(author)).toEqual(expect.arrayContaining(['key', 'f', 'e']));
    expect(author['t']?.properties ?? {}).not.toHaveProperty('home');
  });

  it('copies nothing, or the named relations from either side', () => {
    expect(copiedBy(BOOK, { toOne: 0, toMany: 0 })).toEqual([]);
    expect(copiedBy(TOWN, { toOne: 0, toMany: 0, paths: ['authors.books'] })).toEqual([
      'authors',
      'authors.books',
    ]);
  });

  it('copies no long texts and nothing that each publication changes, unless the settings name it', () => {
    const columns = (settings: Partial<DenormaliseSettings>) => {
      const { root } = createLayout(registry, BOOK, { ...DEFAULT_DENORMALISE, ...settings });
      const author = root.steps.get('author');
      if (author?.kind !== 'relation') throw new Error('no relation');
      return [...(author.embedded?.place.scalars.keys() ?? [])];
    };
    const usual = columns({});
    expect(usual).toEqual(expect.arrayContaining(['documentId', 'name', 'createdAt']));
    expect(usual).not.toEqual(expect.arrayContaining(['updatedAt']));
    expect(usual).not.toEqual(expect.arrayContaining(['publishedAt']));
    const named = columns({ paths: ['author.updatedAt'] });
    expect(named.filter((name) => !usual.includes(name))).toEqual(['updatedAt']);
    const shows = documentDependencies(registry)
      .filter(({ type, path }) => type === BOOK && path.map(({ attribute }) => attribute).join() === 'author')
      .map((dependency) => dependency.shows);
    expect(shows).toEqual([usual]);
    const naming = { denormalise: { paths: ['author.updatedAt'] } };
    expect(createLayouts(withOptions(BOOK, naming)).has(BOOK)).toBe(true);
  });

  it('has no private attribute anywhere', () => {
    expect(JSON.stringify(indexDefinition(createLayout(registry, BOOK, DEFAULT_DENORMALISE)))).not.toContain(
      'secret',
    );
  });

  it('takes settings from the type and refuses invalid ones, type by type', () => {
    const varve = { denormalise: { toOne: 0, toMany: 0, paths: ['tags'] } };
    const layout = createLayouts(withOptions(BOOK, varve)).get(BOOK);
    expect(layout && copied(layout.root)).toEqual(['tags']);
    expect(() => createLayouts(withOptions(BOOK, { denormalise: { toOne: 99, depth: 1 } }))).toThrow(
      /api::book\.book: pluginOptions\.varve\.denormalise\.toOne: .*\n.*depth/,
    );
    expect(() => createLayouts(withOptions(BOOK, { denormalise: { paths: ['author.secretary'] } }))).toThrow(
      'author.secretary: secretary is not a public relation, component or column',
    );
  });

  it('uses the setting for all types if a type has none', () => {
    const none = { toOne: 0, toMany: 0, paths: [] };
    const options = withOptions(BOOK, { denormalise: { toOne: 1 } });
    const layouts = createLayouts(options, none);
    const copiedIn = (type: string) => copied(layouts.get(type)?.root ?? expect.unreachable());
    expect(copiedIn(TOWN)).toEqual([]);
    expect(copiedIn(BOOK).length).toBeGreaterThan(0);
    expect(copiedIn(BOOK)).not.toContain('tags');
    const ways = (denormalise?: typeof none) =>
      documentDependencies(options, denormalise).filter(({ keysOnly }) => !keysOnly).length;
    expect(ways(none)).toBeLessThan(ways());
  });

  it('names the type that has too many fields, and how to reduce them', () => {
    const steps = ['related', 'prequel', 'sequel'];
    const paths = steps.flatMap((a) =>
      steps.flatMap((b) => steps.flatMap((c) => `${a}.${b}.${c}.${a}.${b}`)),
    );
    const deep = createLayout(registry, BOOK, { toOne: 5, toMany: 1, paths });
    const problem = mappingProblem(deep);
    expect(problem).toMatch(/^api::book\.book: its documents have \d+ (fields|nested lists)/);
    expect(problem).toContain('pluginOptions.varve.denormalise of api::book.book');
    expect(FIELD_LIMIT).toBeGreaterThan(1000);
    expect(mappingProblem(createLayout(registry, BOOK, DEFAULT_DENORMALISE))).toBeUndefined();
  });
});

/** Returns the fields of pages with a dynamic zone of this many components. */
function zoneOf(components: number) {
  const layout = createLayout(sectionsRegistry(components), SECTIONED, DEFAULT_DENORMALISE);
  const { mappings } = indexDefinition(layout) as { readonly mappings: { readonly properties: Properties } };
  const zone = mappings.properties['c']?.properties?.['sections']?.properties ?? {};
  return { zone, problem: mappingProblem(layout) };
}

type Properties = { readonly [name: string]: { readonly type?: string; readonly properties?: Properties } };

describe('a dynamic zone', () => {
  it('has as many fields with 250 components as with 3, and no problem', () => {
    expect(zoneOf(250)).toEqual(zoneOf(3));
    expect(zoneOf(250).problem).toBeUndefined();
  });

  it('has one nested list for its components, and one for the lists in them', () => {
    const { zone } = zoneOf(3);
    expect(Object.keys(zone)).toEqual(['at', 'x', 'f', 'g', 'w', 't', 'c']);
    expect(zone['c']?.type).toBe('nested');
    expect(Object.keys(zone['c']?.properties ?? {})).toEqual(['at', 'x', 'f', 'g', 'w', 't', 'c']);
    // The largest component has two texts, one of them in a single component, and whole numbers; another has a decimal.
    expect(Object.keys(zone['f']?.properties ?? {})).toEqual(
      expect.arrayContaining(['whole0', 'text0', 'text1', 'double0']),
    );
  });

  it('is refused if lists in lists outside of it are too many for Elasticsearch', () => {
    const problem = mappingProblem(createLayout(manyListsRegistry(51), SECTIONED, DEFAULT_DENORMALISE));
    expect(problem).toMatch(/have \d+ nested lists( with lists in them)? of at most/);
    expect(problem).toContain(SECTIONED);
  });
});

describe('names and values', () => {
  it('names indices after namespace, type, world and generation', () => {
    const names = createIndexNames('shop');
    expect(names.alias('api::restaurant.restaurant', 'draft')).toBe('shop-api_restaurant_restaurant-draft');
    expect(names.index('plugin::users-permissions.user', 'published', 3)).toBe(
      'shop-plugin_users_permissions_user-published-3',
    );
  });

  it('holds 64-bit integers as terms in their order', () => {
    const integers = [-(2n ** 63n), -9007199254740993n, -1n, 0n, 9007199254740992n, 2n ** 63n - 1n];
    const terms = integers.map((value) => String(storedValue('long', value)));
    expect([...terms].sort(compareCodePoints)).toEqual(terms);
    expect(new Set(terms.map((term) => term.length))).toEqual(new Set([20]));
  });

  it('keeps a term within its limit and still distinguishes long texts', () => {
    const [one, two] = ['é'.repeat(40_000), `${'é'.repeat(40_000)}!`].map(storedText);
    expect(Buffer.byteLength(one ?? '')).toBeLessThanOrEqual(32_766);
    expect(one).not.toBe(two);
    expect(storedText('short')).toBe('short');
    expect(storedText('x'.repeat(32_766))).toBe('x'.repeat(32_766));
  });

  it('stores no negative zero, which Lucene distinguishes from zero', () => {
    expect(Object.is(storedValue('number', -0), 0)).toBe(true);
    expect(storedValue('boolean', true)).toBe(1);
  });
});
