import { Command } from 'commander';
import { type Collection, gainOfTen, readCisi, readCranfield } from './collections.ts';
import { createRandom } from './embedded-data.ts';
import { indexDocuments, type SearchDocuments } from './index-documents.ts';
import { corrupt, rareTitleWords } from './typos.ts';

/**
 * `npm run bench:relevance -- --collections DIR`: how good the order of search results is. DIR has Cranfield and CISI in the form
 * in which they are published: cran.all.1400, cran.qry, cranqrel, CISI.ALL, CISI.QRY and CISI.REL.
 */
const options = new Command()
  .requiredOption('--collections <dir>', 'folder with the files of Cranfield and CISI')
  .option('--words <n>', 'words that are corrupted, per collection', '500')
  .option('--seed <n>', 'of the typos', '1')
  .parse()
  .opts<{ collections: string; words: string; seed: string }>();

for (const collection of [readCranfield(options.collections), readCisi(options.collections)]) {
  const search = await indexDocuments(collection.documents);
  const judged = collection.queries.filter(({ gains }) => gains.size > 0);
  const gains: number[] = [];
  for (const { text, gains: wanted } of judged) gains.push(gainOfTen(await search(text), wanted));
  print(collection, 'nDCG@10', mean(gains), `${judged.length} queries`);
  for (const typos of [1, 2] as const) await measureTypos(collection, search, typos);
}

/** The share of corrupted words whose document is among the first ten. */
async function measureTypos(collection: Collection, search: SearchDocuments, typos: 1 | 2): Promise<void> {
  const random = createRandom(Number(options.seed));
  const words = rareTitleWords(collection.documents, typos === 1 ? 5 : 9);
  const found: number[] = [];
  for (let i = 0; i < Number(options.words); i++) {
    const { word, documents } = random.pick(words);
    const hits = await search(corrupt(word, typos, random));
    found.push(hits.some((id) => documents.includes(id)) ? 1 : 0);
  }
  print(
    collection,
    `found with ${typos} typo${typos === 1 ? '' : 's'}`,
    mean(found),
    `${found.length} words`,
  );
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);
}

function print({ name }: Collection, measure: string, value: number, of: string): void {
  console.log(`${name.padEnd(10)} ${measure.padEnd(18)} ${value.toFixed(4)}  (${of})`);
}
