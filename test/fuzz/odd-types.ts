import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

const SCALARS = {
  title: { type: 'string' },
  body: { type: 'text' },
  story: { type: 'richtext' },
  rich: { type: 'blocks' },
  code: { type: 'uid' },
  mail: { type: 'email' },
  pin: { type: 'password' },
  kind: { type: 'enumeration', enum: ['mon', 'tue', 'ÄÖ'] },
  whole: { type: 'integer' },
  big: { type: 'biginteger' },
  price: { type: 'decimal' },
  ratio: { type: 'float' },
  open: { type: 'boolean', default: false },
  day: { type: 'date' },
  hour: { type: 'time' },
  instant: { type: 'datetime' },
  extra: { type: 'json' },
};
const LEVELS = ['top', 'low', 'leaf'] as const;
const localized = { pluginOptions: { i18n: { localized: true } } };

function relation(kind: string, target: string, more: object = {}): object {
  return { type: 'relation', relation: kind, target: `api::${target}.${target}`, ...more };
}

/** Returns the attributes of a component, which contains the components of the next level in every form. */
function levelAttributes(at: number): object {
  const { title, body, ratio, big, instant, extra } = SCALARS;
  const next = LEVELS[at + 1];
  const scalars = { title, body, ratio, big, instant, extra };
  if (next === undefined) return scalars;
  const component = `odd.${next}`;
  return {
    ...scalars,
    one: { type: 'component', component },
    list: { type: 'component', component, repeatable: true },
    zone: { type: 'dynamiczone', components: [component, 'odd.leaf'].slice(0, next === 'leaf' ? 1 : 2) },
    tag: relation('oneToOne', 'tag'),
  };
}

const THING = {
  ...SCALARS,
  title: { ...SCALARS.title, ...localized },
  extra: { ...SCALARS.extra, ...localized },
  mark: { type: 'string', unique: true, minLength: 2, maxLength: 300 },
  note: { type: 'string', private: true },
  need: { type: 'integer', required: true, default: 3, min: -5, max: 5 },
  one: { type: 'component', component: 'odd.top', ...localized },
  list: { type: 'component', component: 'odd.top', repeatable: true },
  zone: { type: 'dynamiczone', components: ['odd.top', 'odd.low', 'odd.leaf'] },
  parent: relation('manyToOne', 'thing', { inversedBy: 'children' }),
  children: relation('oneToMany', 'thing', { mappedBy: 'parent' }),
  friends: relation('manyToMany', 'thing'),
  tags: relation('manyToMany', 'tag', { inversedBy: 'things' }),
  owner: relation('oneToOne', 'tag', { inversedBy: 'owned' }),
};
const TAG = {
  name: { type: 'string' },
  weight: { type: 'float' },
  things: relation('manyToMany', 'thing', { mappedBy: 'tags' }),
  owned: relation('oneToOne', 'thing', { mappedBy: 'owner' }),
};
const SETTING = {
  ...SCALARS,
  zone: { type: 'dynamiczone', components: ['odd.top', 'odd.leaf'] },
  best: relation('oneToMany', 'thing'),
};

/** Writes a folder with types that have every kind of attribute, and components in four levels. */
export function writeOddTypes(): string {
  const folder = mkdtempSync(join(tmpdir(), 'varve-odd-'));
  const write = (path: string, schema: object) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), JSON.stringify(schema));
  };
  for (const [at, name] of LEVELS.entries())
    write(`components/odd/${name}.json`, { info: { displayName: name }, attributes: levelAttributes(at) });
  const type = (name: string, kind: string, attributes: object, options: object) =>
    write(`api/${name}/content-types/${name}/schema.json`, {
      kind,
      info: { singularName: name, pluralName: `${name}s`, displayName: name },
      ...options,
      attributes,
    });
  type('thing', 'collectionType', THING, {
    options: { draftAndPublish: true },
    pluginOptions: { i18n: { localized: true } },
  });
  type('tag', 'collectionType', TAG, {});
  type('setting', 'singleType', SETTING, { options: { draftAndPublish: true } });
  return folder;
}
