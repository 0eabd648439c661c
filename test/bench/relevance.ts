import { Command } from 'commander';
import { type Collection, gainOfTen, readCisi, readCranfield } from './collections.ts';
import { createRandom } from './embedded-data.ts';
import {
  type IndexedDocuments,
  indexDocuments,
  type SearchDocuments,
  sendDocuments,
} from './index-documents.ts';
import { corrupt, rareTitleWords } from './typos.ts';

/**
 * `npm run bench:relevance -- --collections DIR`: measures how good the order of search results is. DIR contains Cranfield and CISI as
 * they are published: cran.all.1400, cran.qry, cranqrel, CISI.ALL, CISI.QRY and CISI.REL.
 */
const options = new Command()
  .requiredOption('--collections <dir>', 'folder with the files of Cranfield and CISI')
  .option('--read-index <url>', 'an Elasticsearch, to measure too')
  .option('--words <n>', 'words that are corrupted, per collection', '500')
  .option('--seed <n>', 'of the typos', '1')
  .parse()
  .opts<{ collections: string; readIndex?: string; words: string; seed: string }>();

const { readIndex } = options;
for (const collection of [readCranfield(options.collections), readCisi(options.collections)]) {
  const embedded = await indexDocuments(collection.documents);
  await measure(`${collection.name}, embedded`, collection, embedded.search);
  if (readIndex !== undefined)
    await measureSent(collection, embedded, await sendDocuments(collection.documents, readIndex));
  await embedded.close();
}

async function measureSent(
  collection: Collection,
  embedded: IndexedDocuments,
  sent: IndexedDocuments,
): Promise<void> {
  try {
    const name = `${collection.name}, Elasticsearch`;
    await measure(name, collection, sent.search);
    const shared: number[] = [];
    for (const { text } of collection.queries) {
      const [one, other] = [await embedded.search(text), await sent.search(text)];
      shared.push(one.length === 0 ? 1 : one.filter((id) => other.includes(id)).length / one.length);
    }
    print(name, 'the same in ten', mean(shared), `${shared.length} queries`);
  } finally {
    await sent.close();
  }
}

async function measure(name: string, collection: Collection, search: SearchDocuments): Promise<void> {
  const rated = collection.queries.filter(({ gains }) => gains.size > 0);
  const gains: number[] = [];
  for (const { text, gains: wanted } of rated) gains.push(gainOfTen(await search(text), wanted));
  print(name, 'nDCG@10', mean(gains), `${rated.length} queries`);
  for (const typos of [1, 2] as const) await measureTypos(name, collection, search, typos);
}

/** Prints the share of words with typos whose document is among the first ten. */
async function measureTypos(
  name: string,
  { documents }: Collection,
  search: SearchDocuments,
  typos: 1 | 2,
): Promise<void> {
  const random = createRandom(Number(options.seed));
  const words = rareTitleWords(documents, typos === 1 ? 5 : 9);
  const found: number[] = [];
  for (let i = 0; i < Number(options.words); i++) {
    const { word, documents: wanted } = random.pick(words);
    const hits = await search(corrupt(word, typos, random));
    found.push(hits.some((id) => wanted.includes(id)) ? 1 : 0);
  }
  const measure = `found with ${typos} typo${typos === 1 ? '' : 's'}`;
  print(name, measure, mean(found), `${found.length} words`);
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);
}

function print(name: string, measure: string, value: number, of: string): void {
  console.log(`${name.padEnd(24)} ${measure.padEnd(18)} ${value.toFixed(4)}  (${of})`);
}
