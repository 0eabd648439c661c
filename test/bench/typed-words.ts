import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readCisi, readCranfield } from './collections.ts';
import { createRandom, type Random } from './embedded-data.ts';
import type { LoadRequest } from './measure-load.ts';
import { corrupt } from './typos.ts';

/** Makes texts of the sentences of Cranfield and CISI, and queries of their words. */
export type TypedWords = {
  /** Returns a text of so many words. */
  textOf(random: Random, words: number): string;
  /** Returns two words of a sentence. The second is cut to a prefix, and a fifth of the first words have a typo. */
  twoWords(random: Random): string;
  oneWord(random: Random): string;
};

export function createTypedWords(folder: string): TypedWords {
  const documents = [readCranfield, readCisi].flatMap((read) => read(folder).documents);
  const sentences = documents
    .flatMap(({ body }) => body.split(/ \.|\. /))
    .map((sentence) => sentence.replace(/\s+/g, ' ').trim())
    .filter((sentence) => sentence.split(' ').length > 4);
  const longWords = (random: Random): readonly string[] => {
    const sentence = random.pick(sentences).toLowerCase();
    const words = sentence.match(/[a-z]{4,}/g) ?? [];
    return words.length < 2 ? longWords(random) : words;
  };
  return {
    textOf(random, words) {
      const parts: string[] = [];
      for (let length = 0; length < words; ) {
        const sentence = random.pick(sentences);
        parts.push(sentence);
        length += sentence.split(' ').length;
      }
      return parts.join('. ').split(' ').slice(0, words).join(' ');
    },
    twoWords(random) {
      const words = longWords(random);
      const at = random.below(words.length - 1);
      const [first = '', second = ''] = words.slice(at, at + 2);
      const typed = random.chance(0.2) && first.length > 4 ? corrupt(first, 1, random) : first;
      return `${typed} ${second.slice(0, random.between(3, second.length))}`;
    },
    oneWord: (random) => random.pick(longWords(random)),
  };
}

const TEXTS: Readonly<Record<string, readonly string[]>> = { restaurant: ['description'], review: ['text'] };

/** Replaces the texts of an import's documents by sentences, each as long as the text before. */
export function writeTexts(folder: string, words: TypedWords): void {
  const random = createRandom(1);
  for (const [type, names] of Object.entries(TEXTS)) {
    const file = join(folder, `${type}.jsonl`);
    const lines = readFileSync(file, 'utf8')
      .split('\n')
      .filter((line) => line !== '');
    const written = lines.map((line) => {
      const document = JSON.parse(line) as { readonly data: Readonly<Record<string, string>> };
      const text = (name: string) => words.textOf(random, document.data[name]?.split(' ').length ?? 1);
      const texts = Object.fromEntries(names.map((name) => [name, text(name)]));
      return `${JSON.stringify({ ...document, data: { ...document.data, ...texts } })}\n`;
    });
    writeFileSync(file, written.join(''));
  }
}

/** Requests of one kind, by number. The same seed gives the same requests. */
export type LoadSource = {
  get(i: number): LoadRequest;
  /** Number of the first `used` requests that repeat an earlier one. */
  repeats(used: number): number;
};

export type NamedLoad = { readonly name: string; readonly source: (seed: number) => LoadSource };

const FACETS = ['stars', 'kind', 'category.name', 'tags.name', 'open'];

/** Requests of a search box: words alone, with facets and highlights, and with three refined facets in one POST. */
export function wordLoads(words: TypedWords, only = ''): readonly NamedLoad[] {
  const list = (query: string, more: string): LoadRequest => ({
    ...{ method: 'GET', path: `/api/restaurants?search=${encodeURIComponent(query)}${more}` },
  });
  const kinds: readonly (readonly [string, (query: string, random: Random) => LoadRequest])[] = [
    ['search', (query) => list(query, '')],
    [
      'search, 5 facets, highlights',
      (query) => list(query, `&facets=${FACETS.join(',')}&highlight=name,description`),
    ],
    ['search, 1 query and 3 of refined facets', disjunctive],
  ];
  return kinds
    .filter(([name]) => new RegExp(only).test(name))
    .map(([name, request]) => ({ name, source: (seed) => sourceOf(words, request, seed) }));
}

function sourceOf(
  words: TypedWords,
  request: (query: string, random: Random) => LoadRequest,
  seed: number,
): LoadSource {
  const random = createRandom(seed);
  const made: LoadRequest[] = [];
  const seen = new Set<string>();
  const distinct = (): string => {
    const query = words.twoWords(random);
    return seen.has(query) ? distinct() : query;
  };
  return {
    get(i) {
      while (made.length <= i) {
        const query = distinct();
        seen.add(query);
        made.push(request(query, random));
      }
      return made[i] as LoadRequest;
    },
    repeats: () => 0,
  };
}

/** Returns a POST with a main query and one query per facet. The main query has every refinement; a facet's has those of the others. */
function disjunctive(query: string, random: Random): LoadRequest {
  const refined = {
    stars: ['stars:4', 'stars:5'],
    kind: ['kind:bistro'],
    open: [`open:${random.chance(0.5)}`],
  };
  const params = (without?: string) => ({
    query,
    facetFilters: Object.entries(refined).flatMap(([name, values]) => (name === without ? [] : [values])),
  });
  const requests = [
    { indexName: 'restaurants', params: { ...params(), hitsPerPage: 20, facets: FACETS } },
    ...Object.keys(refined).map((name) => ({
      ...{ indexName: 'restaurants', params: { ...params(name), hitsPerPage: 0, facets: [name] } },
    })),
  ];
  const caller = 'x-algolia-api-key=public&x-algolia-application-id=bench';
  return { method: 'POST', path: `/1/indexes/*/queries?${caller}`, body: JSON.stringify({ requests }) };
}
