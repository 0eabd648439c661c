import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

const hidden = { type: 'string', private: true };
const author = { type: 'relation', relation: 'oneToOne', target: 'api::author.author' };
const component = (name: string, repeatable = false) => ({ type: 'component', component: name, repeatable });

const COMPONENTS = {
  inner: { shown: { type: 'string' }, hidden },
  seo: { text: { type: 'string' }, hidden, author, inner: component('meta.inner') },
  vault: { hidden, inner: { ...component('meta.inner'), private: true } },
};

const TYPES = {
  author: { name: { type: 'string' } },
  topic: {
    name: { type: 'string' },
    pages: { type: 'relation', relation: 'manyToMany', target: 'api::page.page', mappedBy: 'topics' },
  },
  page: {
    title: { type: 'string' },
    secret: hidden,
    author,
    topics: { type: 'relation', relation: 'manyToMany', target: 'api::topic.topic', inversedBy: 'pages' },
    seo: component('meta.seo'),
    vault: component('meta.vault'),
    list: component('meta.seo', true),
    zone: { type: 'dynamiczone', components: ['meta.seo', 'meta.vault'] },
  },
};

/** Writes a folder with the types of pages, topics and authors. Pages have private attributes at every depth. */
export function writePageTypes(more: Readonly<Record<string, object>> = {}): string {
  const folder = mkdtempSync(join(tmpdir(), 'varve-pages-'));
  const write = (path: string, schema: object) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), JSON.stringify(schema));
  };
  for (const [name, attributes] of Object.entries(COMPONENTS))
    write(`components/meta/${name}.json`, {
      collectionName: `components_meta_${name}s`,
      info: { displayName: name },
      attributes,
    });
  for (const [name, attributes] of Object.entries(TYPES))
    write(`api/${name}/content-types/${name}/schema.json`, {
      kind: 'collectionType',
      collectionName: `${name}s`,
      info: { singularName: name, pluralName: `${name}s`, displayName: name },
      options: { draftAndPublish: name === 'page' },
      attributes: { ...attributes, ...(name === 'page' && more) },
    });
  return folder;
}
