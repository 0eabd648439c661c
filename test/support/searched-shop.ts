import { readFileSync } from 'node:fs';
import { createEmbeddedIndex } from '../../shared/read-index/embedded/embedded-index.ts';
import { buildRegistry } from '../../shared/schema/build-registry.ts';
import { languageOf } from '../../shared/search/languages.ts';
import { splitWords } from '../../shared/search/split-words.ts';

const WARE = 'api::ware.ware';
/** First id of the texts' rows. */
const TEXTS = 10_000;

/** A product, with the parts of its title's words by which a shopper looks for it. */
type Ware = {
  readonly id: number;
  readonly title: string;
  readonly body: string;
  readonly parts: readonly string[];
};

/** Result of the queries of a shop. */
export type Rated = {
  readonly queries: number;
  /** Share of the expected wares that were found. */
  readonly recall: number;
  /** Average share of right wares among the first ten. */
  readonly precision: number;
};

/** Searches a shop for each part in its file. Each line of the file is a ware: `title | text | parts`. */
export async function rateShop(file: string, locale: string): Promise<{ with: Rated; without: Rated }> {
  const wares = readWares(file);
  const [found, foundWithout] = await Promise.all([search(wares, locale), search(wares, locale, false)]);
  return {
    with: rate(wares, locale, found),
    without: rate(wares, locale, foundWithout),
  };
}

function readWares(file: string): readonly Ware[] {
  const lines = readFileSync(new URL(`shops/${file}`, import.meta.url), 'utf8')
    .trim()
    .split('\n');
  return lines.map((line, at) => {
    const [title = '', body = '', parts = ''] = line.split('|').map((each) => each.trim());
    return { id: at + 1, title, body, parts: parts.split(' ').filter((part) => part !== '') };
  });
}

function queriesOf(wares: readonly Ware[]): readonly string[] {
  return [...new Set(wares.flatMap(({ parts }) => parts))];
}

type Found = ReadonlyMap<string, readonly number[]>;

/** Returns the ids of the wares that each query finds, best first. */
async function search(wares: readonly Ware[], locale: string, compounds?: boolean): Promise<Found> {
  const varve = { search: { locale, ...(compounds === undefined ? {} : { compounds }) } };
  const json = {
    kind: 'collectionType',
    info: { singularName: 'ware', pluralName: 'wares', displayName: 'Ware' },
    attributes: { title: { type: 'string' } },
    pluginOptions: { varve },
  };
  const { registry } = buildRegistry([
    { model: 'contentType', file: 'ware.json', namespace: 'api::ware', json },
  ]);
  const index = createEmbeddedIndex({ registry });
  const row = (id: number, title: string) => ({
    ...{ type: WARE, version: 'live' as const, key: id },
    row: {
      source: Buffer.from(JSON.stringify({ id })),
      fields: { id, documentId: `d${id}`, title },
      components: {},
    },
  });
  // Texts are rows of their own. So a ware is found by its title only, in a shop that has the words of all texts.
  const rows = wares.flatMap(({ id, title, body }) => [row(id, title), row(TEXTS + id, body)]);
  await index.apply({ position: 1n, rows, links: [] });
  const found = new Map<string, readonly number[]>();
  for (const query of queriesOf(wares)) {
    const { hits } = await index.search({
      ...{ type: WARE, world: 'published', query: { kind: 'match_all' }, sort: [], from: 0, size: 1000 },
      withTotal: false,
      text: { query: `${query} `, locales: [locale], typoTolerance: true, isRanked: true },
    });
    found.set(
      query,
      hits.sources
        .map((source) => JSON.parse(Buffer.from(source).toString()).id as number)
        .filter((id) => id < TEXTS),
    );
  }
  return found;
}

function rate(wares: readonly Ware[], locale: string, found: Found): Rated {
  const { stem } = languageOf(locale);
  const stemsOf = ({ title, parts }: Ware) => {
    const words = splitWords(title, locale).map(({ word }) => word);
    return new Set([...words, ...parts].map(stem));
  };
  const stems = wares.map(stemsOf);
  const shares: number[] = [];
  let [expected, right] = [0, 0];
  for (const [query, ids] of found) {
    const meant = wares.filter(({ parts }) => parts.includes(query));
    expected += meant.length;
    right += meant.filter(({ id }) => ids.includes(id)).length;
    const first = ids.slice(0, 10);
    const alike = first.filter((id) => stems[id - 1]?.has(stem(query)));
    if (first.length > 0) shares.push(alike.length / first.length);
  }
  return {
    queries: found.size,
    recall: right / expected,
    precision: shares.reduce((sum, share) => sum + share, 0) / shares.length,
  };
}
