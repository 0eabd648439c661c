import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** Files of a project whose articles have every kind of attribute, and whose people are their authors. */
const ARTICLE = 'api/article/content-types/article/schema.json';
const PERSON = 'api/person/content-types/person/schema.json';
const SEO = 'components/shared/seo.json';
const LOCALIZED = { pluginOptions: { i18n: { localized: true } } };
const FILES = {
  [ARTICLE]: {
    kind: 'collectionType',
    info: { singularName: 'article', pluralName: 'articles', displayName: 'Article' },
    options: { draftAndPublish: true },
    ...LOCALIZED,
    attributes: {
      title: { type: 'string', ...LOCALIZED },
      summary: { type: 'string', ...LOCALIZED },
      seo: { type: 'component', component: 'shared.seo', repeatable: false, ...LOCALIZED },
      sections: { type: 'dynamiczone', components: ['shared.quote', 'shared.seo'], ...LOCALIZED },
      author: {
        type: 'relation',
        relation: 'manyToOne',
        target: 'api::person.person',
        inversedBy: 'articles',
      },
    },
  },
  [PERSON]: {
    kind: 'collectionType',
    info: { singularName: 'person', pluralName: 'people', displayName: 'Person' },
    options: { draftAndPublish: false },
    attributes: {
      name: { type: 'string' },
      articles: {
        type: 'relation',
        relation: 'oneToMany',
        target: 'api::article.article',
        mappedBy: 'author',
      },
    },
  },
  [SEO]: {
    info: { displayName: 'SEO' },
    attributes: { metaTitle: { type: 'string' }, metaText: { type: 'text' } },
  },
  'components/shared/quote.json': {
    info: { displayName: 'Quote' },
    attributes: { text: { type: 'string' } },
  },
};

type Schema = {
  options: { draftAndPublish: boolean };
  pluginOptions: object;
  attributes: Record<string, { [option: string]: unknown }>;
};

export type BrokenProject = ReturnType<typeof createBrokenProject>;

/** Writes the project to a new folder, with functions that break it. */
export function createBrokenProject() {
  const folder = mkdtempSync(join(tmpdir(), 'varve-broken-'));
  const write = (file: string, json: unknown) => {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), JSON.stringify(json));
  };
  const restore = () => {
    for (const [file, json] of Object.entries(FILES)) write(file, json);
  };
  const change = (file: string) => (edit: (schema: Schema) => void) => {
    const schema = JSON.parse(readFileSync(join(folder, file), 'utf8')) as Schema;
    edit(schema);
    write(file, schema);
  };
  restore();
  return {
    folder,
    article: change(ARTICLE),
    person: change(PERSON),
    seo: change(SEO),
    remove: (file: string) => rmSync(join(folder, file), { recursive: true }),
    move: (from: string, to: string) => renameSync(join(folder, from), join(folder, to)),
    restore,
    dispose: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** Ways to break the project, each with the names of the values that are lost and their entries. */
export const BREAKAGES: readonly {
  readonly what: string;
  readonly breaks: (project: BrokenProject) => void;
  readonly losses: Readonly<Record<string, number>>;
  /** A part of the message. */
  readonly says: string;
}[] = [
  {
    what: 'a misspelt type',
    breaks: ({ article }) => article(({ attributes }) => (attributes['summary'] = { type: 'strng' })),
    losses: { 'api::article.article.summary': 3 },
    says: `${ARTICLE} $.attributes.summary.type: `,
  },
  {
    what: 'a type that cannot show the values',
    breaks: ({ article }) => article(({ attributes }) => (attributes['summary'] = { type: 'integer' })),
    losses: { 'api::article.article.summary': 3 },
    says: `${ARTICLE} has no such attribute, or it has another type`,
  },
  {
    what: 'a missing component file',
    breaks: ({ remove }) => remove(SEO),
    losses: { 'api::article.article.sections': 1, 'api::article.article.seo': 2 },
    says: 'component shared.seo is not defined',
  },
  {
    what: 'a missing attribute of a component',
    breaks: ({ seo }) => seo(({ attributes }) => void delete attributes['metaText']),
    losses: { 'shared.seo.metaText': 2 },
    says: `${SEO} has no such attribute`,
  },
  {
    what: 'a renamed target',
    breaks: ({ person, article }) => {
      person((schema) => Object.assign(schema, { info: { singularName: 'author', pluralName: 'people' } }));
      article(
        ({ attributes }) => void Object.assign(attributes['author'] ?? {}, { target: 'api::persn.persn' }),
      );
    },
    losses: { 'api::article.article.author': 2 },
    says: 'content type api::persn.persn is not defined',
  },
  {
    what: 'a misspelt other side of a relation',
    breaks: ({ person }) => person(({ attributes }) => (attributes['articles'] = { type: 'relaton' })),
    losses: { 'api::person.person.articles': 1 },
    says: `${PERSON} $.attributes.articles.type: `,
  },
  {
    what: 'no locales',
    breaks: ({ article }) => article((schema) => (schema.pluginOptions = {})),
    losses: { 'api::article.article.locale': 1 },
    says: 'has no locales any more (pluginOptions.i18n.localized)',
  },
  {
    what: 'no drafts',
    breaks: ({ article }) => article((schema) => (schema.options = { draftAndPublish: false })),
    losses: { 'api::article.article.publishedAt': 2 },
    says: 'has no drafts any more (options.draftAndPublish)',
  },
];

/** Writes three articles through the API: published with everything, changed since, and a draft in another locale. */
export async function writeArticles(url: string): Promise<void> {
  const send = async (method: string, path: string, data: object) => {
    const headers = { 'content-type': 'application/json' };
    const answer = await fetch(`${url}/api/${path}`, { method, headers, body: JSON.stringify({ data }) });
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
    return ((await answer.json()) as { data: { documentId: string } }).data.documentId;
  };
  const author = await send('POST', 'people', { name: 'Ada' });
  const seo = { metaTitle: 'M', metaText: 'T' };
  const first = await send('POST', 'articles', {
    ...{ title: 'one', summary: 's1', author, seo },
    sections: [
      { __component: 'shared.quote', text: 'q' },
      { __component: 'shared.seo', metaTitle: 'Z' },
    ],
  });
  await send('PUT', `articles/${first}?locale=de`, { title: 'eins', summary: 's1-de', seo });
  const second = await send('POST', 'articles', { title: 'two', summary: 's2', author });
  await send('PUT', `articles/${second}?status=draft`, { title: 'two, changed' });
  await send('PUT', `articles/${first}?locale=de&status=draft`, { title: 'eins, geändert' });
}
