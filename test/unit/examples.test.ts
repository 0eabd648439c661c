import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import type { Attribute, ContentType, Model } from '../../shared/schema/content-type.ts';
import { loadContentTypes } from '../../shared/schema/load-content-types.ts';

type Values = { readonly [name: string]: unknown };
type Variant = { readonly state: string; readonly data: Values; readonly draft?: Values };
type Line = { readonly type: string; readonly key: string } & (
  | Variant
  | { readonly locales: { readonly [locale: string]: Variant } }
);

const folder = path.resolve(import.meta.dirname, '../../examples/restaurants');
const entries = path.join(folder, 'entries');
const lines = readdirSync(entries).flatMap((file) =>
  readFileSync(path.join(entries, file), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Line),
);
const loaded = loadContentTypes(folder);
const types = loaded.kind === 'loaded' ? loaded.registry.contentTypes : new Map<string, ContentType>();
const components = loaded.kind === 'loaded' ? loaded.registry.components : new Map();
const keys = new Set(lines.map(({ type, key }) => `${type}:${key}`));

const variantsOf = (line: Line): Variant[] => ('locales' in line ? Object.values(line.locales) : [line]);
const typeOf = (line: Line) => types.get(`api::${line.type}.${line.type}`) as ContentType;

/** Returns the values that the model does not allow. */
function mistakes(values: Values, model: Model, complete: boolean): string[] {
  const unknown = Object.keys(values).filter((name) => name !== '__component' && !model.attributes.has(name));
  const required = [...model.attributes.values()].filter((attribute) => attribute.required && complete);
  const missing = required.filter(({ name }) => values[name] === undefined || values[name] === null);
  const wrong = [...model.attributes.values()].flatMap((attribute) =>
    (values[attribute.name] ?? null) === null ? [] : attributeMistakes(values[attribute.name], attribute),
  );
  return [
    ...unknown.map((name) => `unknown ${name}`),
    ...missing.map(({ name }) => `missing ${name}`),
    ...wrong,
  ];
}

function attributeMistakes(value: unknown, attribute: Attribute): string[] {
  const list = Array.isArray(value) ? value : [value];
  switch (attribute.kind) {
    case 'scalar':
      return attribute.enum === undefined || attribute.enum.includes(String(value))
        ? []
        : [`${attribute.name} ${value}`];
    case 'relation': {
      const target = attribute.target.slice(attribute.target.lastIndexOf('.') + 1);
      const refs = list.map((each: { $ref: string }) => each.$ref);
      return refs
        .filter((ref) => !ref.startsWith(`${target}:`) || !keys.has(ref))
        .map((ref) => `${attribute.name} ${ref}`);
    }
    case 'component':
      return list.flatMap((each) => mistakes(each, components.get(attribute.component), true));
    case 'dynamiczone':
      return list.flatMap((each) => mistakes(each, components.get(each.__component), true));
  }
}

test('the example entries use only attributes of their content types, and every reference has a target', () => {
  expect(loaded.kind).toBe('loaded');
  expect(keys.size).toBe(lines.length);
  for (const line of lines) {
    for (const variant of variantsOf(line)) {
      const place = `${line.type}:${line.key}`;
      expect(mistakes(variant.data, typeOf(line), variant.state !== 'draft'), place).toEqual([]);
      expect(mistakes(variant.draft ?? {}, typeOf(line), false), place).toEqual([]);
    }
  }
});

test('states fit the type, and all locales have the same shared values', () => {
  for (const line of lines) {
    const type = typeOf(line);
    const variants = variantsOf(line);
    const states = type.draftAndPublish ? ['published', 'draft', 'modified'] : ['live'];
    for (const { state, draft } of variants) {
      expect(states, line.key).toContain(state);
      expect(draft !== undefined, line.key).toBe(state === 'modified');
    }
    expect('locales' in line).toBe(type.localized);
    const shared = [...type.attributes.values()]
      .filter(({ localized }) => !localized)
      .map(({ name }) => name);
    for (const name of shared) expect(new Set(variants.map(({ data }) => data[name])).size, line.key).toBe(1);
  }
});

test('the guide contains every state, several locales, a zone, nested components and self relations', () => {
  const states = lines.flatMap(variantsOf).map(({ state }) => state);
  expect(new Set(states)).toEqual(new Set(['live', 'published', 'draft', 'modified']));
  const locales = new Set(lines.flatMap((line) => ('locales' in line ? Object.keys(line.locales) : [])));
  expect(locales).toEqual(new Set(['en', 'it', 'fr']));
  const kinds = [...types.values()].flatMap((type) => [...type.attributes.values()].map(({ kind }) => kind));
  expect(new Set(kinds)).toEqual(new Set(['scalar', 'relation', 'component', 'dynamiczone']));
  expect(lines.length).toBeGreaterThan(60);
});
