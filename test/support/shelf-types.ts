import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Content types for searches over HTTP: notes in three locales with drafts, components and relations to topics, which have fields. */

const localized = { pluginOptions: { i18n: { localized: true } } };
const keyword = {
  pluginOptions: { i18n: { localized: true }, varve: { search: { as: 'keyword', weight: 4 } } },
};
const relation = (kind: string, target: string) => ({
  ...{ type: 'relation', relation: kind, target: `api::${target}.${target}` },
});

const TYPES = {
  field: { attributes: { name: { type: 'string' } } },
  topic: {
    attributes: {
      name: { type: 'string', pluginOptions: { varve: { search: { typoTolerance: false } } } },
      field: relation('manyToOne', 'field'),
    },
  },
  note: {
    options: { draftAndPublish: true },
    pluginOptions: {
      i18n: { localized: true },
      varve: {
        search: {
          through: ['topics.name', 'topics.field.name', 'about.label'],
          synonyms: { '*': [['heat', 'big warmth']] },
        },
      },
    },
    attributes: {
      title: { type: 'string', ...localized },
      body: { type: 'richtext', ...localized },
      code: { type: 'string', ...keyword },
      secret: { type: 'text', private: true, ...localized },
      kind: { type: 'enumeration', enum: ['plain', 'fancy'], ...localized },
      stars: { type: 'integer', ...localized },
      price: { type: 'decimal', ...localized },
      day: { type: 'date', ...localized },
      open: { type: 'boolean', ...localized },
      about: { type: 'component', component: 'shelf.about', ...localized },
      topics: relation('manyToMany', 'topic'),
    },
  },
};

/** Writes the content types to a new folder. */
export function writeShelf(): string {
  const folder = mkdtempSync(join(tmpdir(), 'varve-shelf-'));
  const write = (path: string, json: object) => {
    mkdirSync(join(folder, path, '..'), { recursive: true });
    writeFileSync(join(folder, path), JSON.stringify(json));
  };
  write('components/shelf/about.json', {
    info: { displayName: 'About' },
    attributes: { label: { type: 'string' } },
  });
  for (const [name, type] of Object.entries(TYPES)) {
    write(`api/${name}/content-types/${name}/schema.json`, {
      ...{ kind: 'collectionType', collectionName: `${name}s` },
      info: { singularName: name, pluralName: `${name}s`, displayName: name },
      ...type,
    });
  }
  return folder;
}
