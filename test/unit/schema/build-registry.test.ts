import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { buildRegistry, type SchemaFile } from '../../../shared/schema/build-registry.ts';
import { problemLine } from '../../../shared/schema/schema-problem.ts';

type Attributes = { readonly [name: string]: unknown };

function type(name: string, attributes: Attributes, more: object = {}): SchemaFile {
  const json = { info: { singularName: name, pluralName: `${name}s` }, attributes, ...more };
  return { model: 'contentType', file: `${name}.json`, namespace: `api::${name}`, json };
}

function component(uid: string, attributes: Attributes): SchemaFile {
  return { model: 'component', file: `${uid}.json`, uid, json: { attributes } };
}

function problemsOf(...files: readonly SchemaFile[]): string[] {
  return buildRegistry(files).problems.map(problemLine);
}

/** Returns the problems of a type `thing` with these attributes, without the file and `$.attributes.`. */
function attributeProblems(attributes: Attributes): string[] {
  return problemsOf(type('thing', attributes)).map((line) => line.replace('thing.json $.attributes', ''));
}

const relation = (kind: string, target: string, more: object = {}) => ({
  type: 'relation',
  relation: kind,
  target,
  ...more,
});

test('a valid pair of types has no problems', () => {
  const files = [
    type('author', { books: relation('oneToMany', 'api::book.book', { mappedBy: 'author' }) }),
    type('book', { author: relation('manyToOne', 'api::author.author', { inversedBy: 'books' }) }),
  ];
  expect(problemsOf(...files)).toEqual([]);
});

test('type names must be kebab-case, not reserved, and unique in any case', () => {
  const named = (uid: string, singularName: string, pluralName: string, more: object = {}): SchemaFile => ({
    model: 'contentType',
    file: `${uid}.json`,
    namespace: `api::${uid}`,
    json: { info: { singularName, pluralName }, attributes: {}, ...more },
  });
  expect(
    problemsOf(
      named('a', 'Restaurant', 'restaurants'),
      named('b', 'place', 'places'),
      named('c', 'place', 'spots'),
      named('d', 'spot', 'places'),
      named('e', 'places', 'placeses', { kind: 'singleType' }),
      named('f', 'time', 'upload'),
      named('g', 'news', 'news'),
      named('h', 'person', 'users'),
      named('i', 'file', 'files'),
    ),
  ).toEqual([
    'a.json $.info.singularName: expected kebab-case, such as "opening-hour"',
    'c.json $.info.singularName: singular name place is already used by api::b.place',
    'd.json $.info.pluralName: path /api/places is already used by api::b.place',
    'e.json $.info.singularName: path /api/places is already used by api::b.place',
    'f.json $.info.pluralName: the name upload is reserved',
    'h.json $.info.pluralName: path /api/users is already used by plugin::users-permissions.user',
  ]);
});

test('relations need a supported kind, an existing target and a matching owner', () => {
  const self = 'api::thing.thing';
  expect(
    attributeProblems({
      a: relation('manyToOne', 'api::ghost.ghost'),
      b: { type: 'relation', relation: 'morphToMany' },
      c: relation('manyToFew', self),
      d: { type: 'relation', relation: 'oneToOne' },
      e: relation('oneToMany', self, { inversedBy: 'f' }),
      f: relation('manyToOne', self, { mappedBy: 'e' }),
      g: relation('oneToOne', self, { mappedBy: 'g', inversedBy: 'g' }),
    }),
  ).toEqual([
    '.b.relation: polymorphic relations are not served, expected one of oneToOne, oneToMany, manyToOne, manyToMany',
    '.c.relation: unknown relation "manyToFew", expected one of oneToOne, oneToMany, manyToOne, manyToMany',
    '.d.target: a relation needs a target, such as "api::tag.tag"',
    '.e.inversedBy: the manyToOne side owns this relation: expected mappedBy here and inversedBy there',
    '.f.mappedBy: the manyToOne side owns this relation: expected inversedBy here and mappedBy there',
    '.g.mappedBy: a relation has inversedBy on its owning side or mappedBy on the other, not both',
    '.a.target: content type api::ghost.ghost is not defined',
  ]);
});

test('the two sides of a relation must name each other and have matching kinds', () => {
  const book = 'api::book.book';
  const author = 'api::author.author';
  expect(
    problemsOf(
      type('author', {
        missing: relation('oneToMany', book, { mappedBy: 'nobody' }),
        scalar: relation('oneToMany', book, { mappedBy: 'title' }),
        elsewhere: relation('oneToMany', book, { mappedBy: 'sequel' }),
        unfit: relation('manyToMany', book, { mappedBy: 'writer' }),
        oneSided: relation('oneToOne', book, { inversedBy: 'signedBy' }),
        crossed: relation('oneToMany', book, { mappedBy: 'writer' }),
        media: relation('manyToMany', book, { mappedBy: 'cover' }),
      }),
      type('book', {
        title: { type: 'string' },
        cover: { type: 'media', multiple: true },
        sequel: relation('manyToOne', book, { inversedBy: 'prequels' }),
        prequels: relation('oneToMany', book, { mappedBy: 'sequel' }),
        writer: relation('manyToOne', author, { inversedBy: 'books' }),
        signedBy: relation('oneToOne', author),
      }),
    ),
  ).toEqual([
    'author.json $.attributes.missing.mappedBy: api::book.book nobody: there is no such attribute',
    'author.json $.attributes.scalar.mappedBy: api::book.book title: that attribute is not a relation',
    'author.json $.attributes.elsewhere.mappedBy: api::book.book sequel: that relation is to api::book.book, not to api::author.author',
    'author.json $.attributes.unfit.mappedBy: api::book.book writer: that relation is manyToOne, the other side of manyToMany is manyToMany',
    'author.json $.attributes.oneSided.inversedBy: api::book.book signedBy: that relation has mappedBy nowhere, expected "oneSided"',
    'author.json $.attributes.crossed.mappedBy: api::book.book writer: that relation has inversedBy "books", expected "crossed"',
    'author.json $.attributes.media.mappedBy: api::book.book cover: that attribute is not a relation',
    'book.json $.attributes.writer.inversedBy: api::author.author books: there is no such attribute',
  ]);
});

test('components must exist, and contain no zone, no two-sided relation and not themselves', () => {
  expect(
    problemsOf(
      type('page', {
        one: { type: 'component', component: 'x.none' },
        zone: { type: 'dynamiczone', components: ['x.a', 'x.none'], min: 3, max: 2 },
      }),
      component('x.a', { b: { type: 'component', component: 'x.b', repeatable: true } }),
      component('x.b', { a: { type: 'component', component: 'x.a' } }),
      component('x.c', {
        zone: { type: 'dynamiczone', components: ['x.a'] },
        page: relation('oneToOne', 'api::page.page', { inversedBy: 'one' }),
      }),
    ),
  ).toEqual([
    'page.json $.attributes.zone.min: min 3 is above max 2',
    'x.c.json $.attributes.page.inversedBy: a relation in a component has no inverse side',
    'page.json $.attributes.one.component: component x.none is not defined',
    'page.json $.attributes.zone.components[1]: component x.none is not defined',
    'x.c.json $.attributes.page.inversedBy: api::page.page one: that attribute is not a relation',
    'x.a.json $.attributes.b.component: a component that contains itself: x.a → x.b → x.a',
    'x.b.json $.attributes.a.component: a component that contains itself: x.b → x.a → x.b',
  ]);
});

test('the source of a uid must be a text attribute', () => {
  expect(
    attributeProblems({
      title: { type: 'string' },
      size: { type: 'integer' },
      a: { type: 'uid', targetField: 'title' },
      b: { type: 'uid', targetField: 'size' },
      c: { type: 'uid', targetField: 'name' },
    }),
  ).toEqual([
    '.b.targetField: api::thing.thing has no text attribute "size"',
    '.c.targetField: api::thing.thing has no text attribute "name"',
  ]);
});

test('options.privateAttributes hides attributes, except those that every answer shows', () => {
  const options = { privateAttributes: ['note', 'createdBy', 'documentId'] };
  const { registry, problems } = buildRegistry([type('thing', { note: { type: 'string' } }, { options })]);
  expect(registry.contentTypes.get('api::thing.thing')?.attributes.get('note')?.private).toBe(true);
  expect(problems.map(problemLine)).toEqual([
    'thing.json $.options.privateAttributes[2]: documentId is part of every answer and cannot be private',
  ]);
});

test('every problem of a file that is not a content type is reported', () => {
  const file: SchemaFile = {
    model: 'contentType',
    file: 'x.json',
    namespace: 'api::x',
    json: { kind: 'page', options: { draftAndPublish: 1 } },
  };
  expect(problemsOf(file)).toEqual([
    'x.json $.kind: expected one of "collectionType"|"singleType"',
    'x.json $.info: expected object, received undefined',
    'x.json $.options.draftAndPublish: expected boolean, received number',
    'x.json $.attributes: expected record, received undefined',
  ]);
});

/** Removes each attribute of the conformance schema in turn. */
test('a removed attribute of the conformance schema is reported exactly where another names it', () => {
  const root = path.resolve(import.meta.dirname, '../../conformance/schema');
  const read = (): (SchemaFile & {
    json: { attributes: { [name: string]: { inversedBy?: string; mappedBy?: string; target?: string } } };
  })[] => [
    ...globSync('api/*/content-types/*/schema.json', { cwd: root }).map((file) => ({
      model: 'contentType' as const,
      file,
      namespace: `api::${file.split('/')[1]}`,
      json: JSON.parse(readFileSync(path.join(root, file), 'utf8')),
    })),
    ...globSync('components/*/*.json', { cwd: root }).map((file) => ({
      model: 'component' as const,
      file,
      uid: file.split('/').slice(1).join('.').replace('.json', ''),
      json: JSON.parse(readFileSync(path.join(root, file), 'utf8')),
    })),
  ];
  expect(buildRegistry(read()).problems).toEqual([]);
  let taken = 0;
  let missed = 0;
  for (const { file, json } of read()) {
    for (const [name, attribute] of Object.entries(json.attributes)) {
      const files = read();
      delete files.find((other) => other.file === file)?.json.attributes[name];
      const { problems } = buildRegistry(files);
      const named = attribute.inversedBy ?? attribute.mappedBy;
      expect(
        problems.map((problem) => problem.path),
        `${file} without ${name}`,
      ).toEqual(
        named === undefined
          ? []
          : [`$.attributes.${named}.${attribute.inversedBy ? 'mappedBy' : 'inversedBy'}`],
      );
      taken += 1;
      missed += problems.length;
    }
  }
  expect(taken).toBeGreaterThan(100);
  expect(missed).toBeGreaterThan(15);
});
