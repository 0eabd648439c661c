import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { loadContentTypes } from '../../../shared/schema/load-content-types.ts';
import { problemLine } from '../../../shared/schema/schema-problem.ts';
import { registryOfDefinitions } from '../../../shared/schema/type-definitions.ts';

const conformance = path.resolve(import.meta.dirname, '../../conformance/schema');
const folders: string[] = [];

afterEach(async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true });
});

async function folderOf(files: { readonly [file: string]: unknown }): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'varve-schema-'));
  folders.push(folder);
  for (const [file, content] of Object.entries(files)) {
    await mkdir(path.dirname(path.join(folder, file)), { recursive: true });
    await writeFile(path.join(folder, file), typeof content === 'string' ? content : JSON.stringify(content));
  }
  return folder;
}

function loaded(folder: string) {
  const result = loadContentTypes(folder);
  if (result.kind === 'problems') throw new Error(result.problems.map(problemLine).join('\n'));
  return result;
}

function problemsOf(folder: string): string[] {
  const result = loadContentTypes(folder);
  if (result.kind === 'loaded') return [];
  return result.problems.map((problem) => problemLine(problem).replace(`${folder}${path.sep}`, ''));
}

const tag = { info: { singularName: 'tag', pluralName: 'tags' }, attributes: { name: { type: 'string' } } };

test('the conformance schema has 11 types, the built-in two, and 9 components', () => {
  const { registry, definitions, warnings } = loaded(conformance);
  expect(registry.contentTypes.size).toBe(13);
  expect([...registry.components.keys()]).toEqual([
    'blocks.hero',
    'blocks.quote',
    'blocks.teaser',
    'common.address',
    'common.award',
    'common.geo',
    'common.hours',
    'common.ingredient',
    'common.seo',
  ]);
  const restaurant = registry.contentTypes.get('api::restaurant.restaurant');
  expect(restaurant?.draftAndPublish).toBe(true);
  expect([...(restaurant?.attributes.keys() ?? [])].slice(0, 3)).toEqual(['key', 'name', 'description']);
  expect(restaurant?.attributes.size).toBe(33);
  expect(registry.contentTypes.get('api::topic.topic')).toMatchObject({
    localized: true,
    draftAndPublish: false,
  });
  expect(definitions).toHaveLength(13);
  expect(warnings).toEqual([]);
});

test('a file may begin with a byte order mark', async () => {
  const part = { attributes: { label: { type: 'string' } } };
  const folder = await folderOf({
    'api/tag/content-types/tag/schema.json': `\ufeff${JSON.stringify(tag)}`,
    'components/x/part.json': `\ufeff${JSON.stringify(part)}`,
  });
  const { registry } = loaded(folder);
  expect([registry.contentTypes.has('api::tag.tag'), registry.components.has('x.part')]).toEqual([
    true,
    true,
  ]);
});

test('definitions contain the JSON of a type and of all its components, built-in types none', () => {
  const { definitions } = loaded(conformance);
  const definitionOf = (uid: string) => definitions.find((definition) => definition.uid === uid);
  const dish = definitionOf('api::dish.dish');
  expect(dish?.schema).toMatchObject({ collectionName: 'dishes', info: { pluralName: 'dishes' } });
  expect(Object.keys(dish?.components ?? {})).toEqual(['common.geo', 'common.ingredient']);
  expect(Object.keys(definitionOf('api::restaurant.restaurant')?.components ?? {})).toEqual([
    'blocks.hero',
    'blocks.quote',
    'blocks.teaser',
    'common.address',
    'common.geo',
    'common.hours',
  ]);
  expect(definitionOf('plugin::upload.file')).toEqual({
    uid: 'plugin::upload.file',
    schema: null,
    components: {},
    defaultLocale: 'en',
  });
});

test('definitions give the same registry after a round trip through JSON', () => {
  const { registry, definitions } = loaded(conformance);
  const back = registryOfDefinitions(JSON.parse(JSON.stringify(definitions)));
  expect(new Map([...back.contentTypes].sort())).toEqual(new Map([...registry.contentTypes].sort()));
  expect(new Map([...back.components].sort())).toEqual(registry.components);
});

test('a definition with an undefined target gives a registry', () => {
  const { definitions } = loaded(conformance);
  const only = definitions.filter(({ uid }) => uid === 'api::country.country');
  const country = registryOfDefinitions(only).contentTypes.get('api::country.country');
  expect(country?.attributes.get('continent')).toMatchObject({
    kind: 'relation',
    target: 'api::continent.continent',
  });
});

test('a project and its src give the same types; an api may have several', async () => {
  const project = await folderOf({ 'package.json': '{}', 'src/admin/app.json': '{}' });
  await cp(conformance, path.join(project, 'src'), { recursive: true });
  await mkdir(path.join(project, 'src/api/dish/content-types/spice'));
  const spice = { info: { singularName: 'spice', pluralName: 'spices' }, attributes: {} };
  await writeFile(path.join(project, 'src/api/dish/content-types/spice/schema.json'), JSON.stringify(spice));
  const ofProject = loaded(project).registry;
  expect(ofProject.contentTypes.has('api::dish.spice')).toBe(true);
  expect(ofProject).toEqual(loaded(path.join(project, 'src')).registry);
});

test('schema files may be directly in the folder', async () => {
  const folder = await folderOf({
    'tag.json': { ...tag, attributes: { place: { type: 'component', component: 'shared.place' } } },
    'city/schema.json': { info: { singularName: 'city', pluralName: 'cities' }, attributes: {} },
    'components/shared/place.json': { attributes: { lat: { type: 'float' } } },
  });
  const { registry } = loaded(folder);
  expect([...registry.contentTypes.keys()].slice(2)).toEqual(['api::tag.tag', 'api::city.city']);
  expect([...registry.components.keys()]).toEqual(['shared.place']);
});

test('an extension of users adds attributes, and does not change existing ones', async () => {
  const user = {
    info: { singularName: 'user', pluralName: 'users' },
    attributes: {
      username: { type: 'integer' },
      role: { type: 'relation', relation: 'manyToOne', target: 'plugin::users-permissions.role' },
      nickname: { type: 'string' },
      tags: { type: 'relation', relation: 'manyToMany', target: 'api::tag.tag', inversedBy: 'users' },
    },
  };
  const users = {
    type: 'relation',
    relation: 'manyToMany',
    target: 'plugin::users-permissions.user',
    mappedBy: 'tags',
  };
  const folder = await folderOf({
    'api/tag/content-types/tag/schema.json': { ...tag, attributes: { ...tag.attributes, users } },
    'extensions/users-permissions/content-types/user/schema.json': user,
    'extensions/shop/content-types/order/schema.json': tag,
  });
  const { registry, definitions, warnings } = loaded(folder);
  const type = registry.contentTypes.get('plugin::users-permissions.user');
  expect(type?.builtIn).toBe(true);
  expect([...(type?.attributes.keys() ?? [])].slice(-3)).toEqual(['varveLogin', 'nickname', 'tags']);
  expect(type?.attributes.get('username')).toMatchObject({ type: 'string', unique: true });
  expect(type?.attributes.get('role')).toMatchObject({ kind: 'scalar', private: true });
  expect(registryOfDefinitions(definitions)).toEqual(registry);
  expect(warnings.map(({ file, message }) => `${path.relative(folder, file)}: ${message}`)).toEqual([
    'extensions/shop/content-types/order/schema.json: types of this plugin are not served',
  ]);
});

test('strict schemas turn every warning into a problem', async () => {
  const folder = await folderOf({ 'tag.json': { ...tag, attributes: { x: { type: 'varchar' } } } });
  expect(loaded(folder).warnings).toHaveLength(1);
  const result = loadContentTypes(folder, { strict: true });
  expect(result.kind === 'problems' && result.problems.map(({ path }) => path)).toEqual([
    '$.attributes.x.type',
  ]);
});

test('a folder without schemas is a problem', async () => {
  const empty = await folderOf({ 'api/tag/readme.md': '' });
  const message =
    'there is no content type: expected api/<api>/content-types/<type>/schema.json or <type>.json';
  expect(problemsOf(empty)).toEqual([`${empty} $: ${message}`]);
  const missing = path.join(empty, 'missing');
  expect(problemsOf(missing)).toEqual([`${missing} $: there is no such folder`]);
});

test('unreadable files do not hide problems of the others', async () => {
  const folder = await folderOf({
    'api/tag/content-types/tag/schema.json': { ...tag, attributes: { name: { type: 'varchar' } } },
    'api/broken/content-types/broken/schema.json': '{ "kind": ',
    'api/scripted/content-types/scripted/schema.js': 'module.exports = {}',
    'components/shared/place.json': [],
  });
  expect(problemsOf(folder)).toEqual([
    'api/broken/content-types/broken/schema.json $: Unexpected end of JSON input',
    'api/scripted/content-types/scripted $: there is no schema.json',
    'components/shared/place.json $: expected object, received array',
  ]);
});
