import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Random } from './naive-random.ts';

/** Random content types that change from era to era: renamed, private, retyped, removed and added attributes, locales, draft & publish. */

type Options = Readonly<Record<string, unknown>>;

/** One attribute through all of its names. `key` never changes. */
export type ChangingAttribute = {
  readonly key: string;
  readonly name: string;
  readonly renamedFrom?: string;
  readonly options: Options;
  readonly private: boolean;
  readonly localized: boolean;
};

export type ChangingType = {
  readonly name: string;
  readonly era: number;
  readonly isSingle: boolean;
  readonly draftAndPublish: boolean;
  /** Era since which the type has drafts. Infinity: it has none. */
  readonly draftsSince: number;
  readonly localized: boolean;
  readonly attributes: readonly ChangingAttribute[];
};

const SCALARS = ['string', 'text', 'integer', 'boolean', 'json'];
/** Texts of which some convert to numbers and booleans. */
const TEXTS = ['one', 'a long text', '12', '-7', 'true', '0', 'false', 'Straße'];
const COMPONENT = { type: 'component', component: 'meta.seo' };
const FIRST: Readonly<Record<string, Options>> = {
  title: { type: 'string' },
  body: { type: 'text' },
  count: { type: 'integer' },
  flag: { type: 'boolean' },
  tags: { type: 'relation', relation: 'manyToMany', target: 'api::tag.tag' },
  lead: { type: 'relation', relation: 'oneToOne', target: 'api::tag.tag' },
  seo: COMPONENT,
  rows: { ...COMPONENT, repeatable: true },
  zone: { type: 'dynamiczone', components: ['meta.seo', 'meta.quote'] },
};

/** Returns the content types of the first era. */
export function firstTypes(random: Random): readonly ChangingType[] {
  return ['page', 'place', 'story', 'home'].map((name) => ({
    name,
    draftsSince: 0,
    era: 0,
    isSingle: name === 'home',
    draftAndPublish: random.chance(0.6),
    localized: random.chance(0.5),
    attributes: Object.entries(FIRST).map(([key, options]) => ({
      key,
      name: key,
      options,
      private: false,
      localized: random.chance(0.6),
    })),
  }));
}

/** Returns the content types of the next era. */
export function nextTypes(
  types: readonly ChangingType[],
  era: number,
  random: Random,
): readonly ChangingType[] {
  return types.map((type) => {
    const added: ChangingAttribute = {
      key: `${type.name}-${era}`,
      name: `added${era}`,
      options: { type: random.pick(SCALARS) },
      private: false,
      localized: random.chance(0.5),
    };
    const kept = type.attributes.flatMap((attribute) => changed(attribute, era, random));
    const draftAndPublish = random.chance(0.2) ? !type.draftAndPublish : type.draftAndPublish;
    const draftsSince = type.draftAndPublish ? type.draftsSince : era;
    return {
      ...type,
      era,
      draftAndPublish,
      draftsSince: draftAndPublish ? draftsSince : Number.POSITIVE_INFINITY,
      localized: random.chance(0.2) ? !type.localized : type.localized,
      attributes: [...kept, ...(random.chance(0.5) ? [added] : [])],
    };
  });
}

function changed(
  { renamedFrom, ...attribute }: ChangingAttribute,
  era: number,
  random: Random,
): readonly ChangingAttribute[] {
  const dice = random.next();
  const was = { ...attribute, ...(renamedFrom !== undefined && { renamedFrom }) };
  if (dice < 0.12) return [{ ...attribute, name: `${attribute.key}${era}`, renamedFrom: attribute.name }];
  if (dice < 0.2) return [{ ...was, private: !attribute.private }];
  if (dice < 0.24) return [];
  if (dice < 0.36) return [{ ...was, options: retyped(attribute.options, random) }];
  return [{ ...was, localized: random.chance(0.1) ? !attribute.localized : attribute.localized }];
}

function retyped(options: Options, random: Random): Options {
  const { type, repeatable } = options;
  if (type === 'dynamiczone') return { ...options, components: random.pick([['meta.seo'], ['meta.quote']]) };
  if (type === 'component') return { ...options, repeatable: repeatable !== true };
  return type === 'relation' ? options : { type: random.pick(SCALARS) };
}

/** Inner attribute of `meta.seo` that the eras change. */
const NOTES: readonly Options[] = [
  { note: { type: 'string' } },
  { note: { type: 'string', private: true } },
  { note: { type: 'integer' } },
  {},
  { remark: { type: 'string', pluginOptions: { varve: { renamedFrom: 'note' } } } },
];

/** Returns the inner attribute of `meta.seo` in an era that answers show; undefined if there is none. */
export function noteIn(type: ChangingType): string | undefined {
  return isNotePrivate(type) ? undefined : Object.keys(NOTES[type.era % NOTES.length] ?? {})[0];
}

/** Returns whether the inner attribute is private in an era. */
export function isNotePrivate({ era }: ChangingType): boolean {
  return era % NOTES.length === 1;
}

/** Writes the content types of an era into a folder, and a type `tag` that never changes. */
export function writeChangingTypes(folder: string, types: readonly ChangingType[], era: number): void {
  const write = (path: string, schema: object) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), JSON.stringify(schema));
  };
  const component = (name: string, attributes: object) =>
    write(`components/meta/${name}.json`, { info: { displayName: name }, attributes });
  component('inner', { text: { type: 'string' }, tag: FIRST['lead'] });
  const inner = { type: 'component', component: 'meta.inner' };
  component('seo', { text: { type: 'string' }, inner, ...NOTES[era % NOTES.length] });
  component('quote', { text: { type: 'string' } });
  const define = (name: string, schema: object) =>
    write(`api/${name}/content-types/${name}/schema.json`, {
      info: { singularName: name, pluralName: name === 'story' ? 'stories' : `${name}s`, displayName: name },
      ...schema,
    });
  define('tag', { kind: 'collectionType', attributes: { name: { type: 'string' } } });
  for (const type of types)
    define(type.name, {
      kind: type.isSingle ? 'singleType' : 'collectionType',
      options: { draftAndPublish: type.draftAndPublish },
      pluginOptions: { i18n: { localized: type.localized } },
      attributes: Object.fromEntries(type.attributes.map((each) => [each.name, schemaOf(each)])),
    });
}

function schemaOf({ options, renamedFrom, localized, ...attribute }: ChangingAttribute): object {
  const varve = renamedFrom === undefined ? {} : { varve: { renamedFrom } };
  const hidden = attribute.private ? { private: true } : {};
  return { ...options, ...hidden, pluginOptions: { i18n: { localized }, ...varve } };
}

/** Returns random values for about half of the attributes. `tags`: documents for links. */
export function randomValues(
  type: ChangingType,
  tags: readonly string[],
  random: Random,
): Readonly<Record<string, unknown>> {
  const note = noteIn(type);
  const seo = () => ({
    text: random.pick(TEXTS),
    inner: { text: random.pick(TEXTS), tag: random.pick(tags) },
    // An integer takes some of the texts only.
    ...(note !== undefined && {
      [note]: type.era % NOTES.length === 2 ? random.between(0, 9) : random.pick(TEXTS),
    }),
  });
  const part = (kind = 'meta.seo') => (kind === 'meta.quote' ? { text: random.pick(TEXTS) } : seo());
  const chosen = type.attributes.filter(() => random.chance(0.5));
  return Object.fromEntries(
    chosen.map(({ name, options }) => [name, randomValue(options, { tags, random, part })]),
  );
}

type Choices = {
  readonly tags: readonly string[];
  readonly random: Random;
  readonly part: (kind?: string) => object;
};

function randomValue(options: Options, { tags, random, part }: Choices): unknown {
  switch (options['type']) {
    case 'integer':
      return random.between(-3, 30);
    case 'boolean':
      return random.chance(0.5);
    case 'json':
      return random.pick([{ a: 1 }, [1, 'two'], 'text', 7]);
    case 'relation':
      return options['relation'] === 'oneToOne'
        ? random.chance(0.2)
          ? null
          : random.pick(tags)
        : { set: random.sample(tags, random.between(0, 3)) };
    case 'component':
      return options['repeatable'] === true
        ? Array.from({ length: random.between(0, 3) }, () => part())
        : random.chance(0.2)
          ? null
          : part();
    case 'dynamiczone':
      return Array.from({ length: random.between(0, 3) }, () => {
        const kind = random.pick(options['components'] as readonly string[]);
        return { __component: kind, ...part(kind) };
      });
    default:
      return random.chance(0.1) ? null : random.pick(TEXTS);
  }
}

/** Returns the parameters that populate what a version shows. */
export function populateAll({ attributes }: ChangingType): string {
  return attributes
    .filter((attribute) => !attribute.private)
    .flatMap(({ name, options }) => {
      const { type } = options;
      if (type === 'relation') return [`populate[${name}]=true`];
      if (type === 'component') return [`populate[${name}][populate][inner][populate][tag]=true`];
      if (type !== 'dynamiczone') return [];
      return (options['components'] as readonly string[]).map((uid) =>
        uid === 'meta.seo'
          ? `populate[${name}][on][${uid}][populate][inner][populate][tag]=true`
          : `populate[${name}][on][${uid}]=true`,
      );
    })
    .join('&');
}
