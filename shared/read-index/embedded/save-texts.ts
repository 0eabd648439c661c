import type { LocaleText } from './locale-text.ts';
import { packTexts } from './pack-texts.ts';
import { listCount } from './row-lists.ts';
import { inSlices, type Slices } from './slices.ts';
import { createFile } from './stored-file.ts';
import {
  type StoredHeader,
  type StoredRows,
  type WordFiles,
  wordArrays,
  wordsBasis,
} from './stored-words.ts';
import type { TextIndex } from './text-index.ts';

const FEW_ROWS = 1_000;
/** Share of rows that must have changed, as one in this many. The file of a large type is always written as a whole. */
const SHARE = 8;

const saving = new WeakMap<TextIndex, Promise<unknown>>();

/** Stores the words of an index, in slices, if many rows were read since the last time. Does nothing while another call stores it. */
export function saveTexts(index: TextIndex, files: WordFiles, slices: Slices): Promise<unknown> {
  const known = saving.get(index);
  if (known !== undefined) return known;
  if (index.unsaved < Math.max(files.fewRows ?? FEW_ROWS, index.read / SHARE)) return Promise.resolve();
  const { unsaved } = index;
  index.unsaved = 0;
  const saved = save(index, files, slices)
    .then((isSaved) => {
      if (!isSaved) index.unsaved += unsaved;
    })
    .finally(() => saving.delete(index));
  saving.set(index, saved);
  return saved;
}

/** Stores the words. Returns false if a pause ended the work. */
async function save(index: TextIndex, files: WordFiles, slices: Slices): Promise<boolean> {
  const snapshot = snapshotOf(index);
  const rows = await copyRows(snapshot, slices);
  if (rows === undefined) return false;
  const texts = await packTexts(rows, snapshot, slices);
  if (texts === undefined) return false;
  const locales = texts.map(({ lengths }, at) => ({ locale: snapshot.texts[at]?.locale ?? '', lengths }));
  const header: StoredHeader = { basis: snapshot.basis, locales };
  const file = await createFile(header, wordArrays(rows, texts), slices);
  if (file === undefined) return false;
  await files.write(index.name, file);
  return true;
}

type Snapshot = ReturnType<typeof snapshotOf>;

/** Copies the parts that may change while the words are stored. */
function snapshotOf(index: TextIndex) {
  const { rowSet, digests, tokens, localeOf, locales } = index;
  const read: number[] = [];
  let total = 0;
  for (let row = 0; row < Math.min(index.read, digests.length); row++) {
    if (digests[row] === 0n) continue;
    read.push(row);
    total += listCount(tokens, row);
  }
  const texts: readonly LocaleText[] = [...locales.values()];
  return {
    basis: wordsBasis(index),
    fields: index.fields.length,
    read,
    total,
    keys: rowSet.keys.slice(),
    digests: digests.slice(),
    texts,
    localeOf: localeOf.slice(),
    lists: {
      ...tokens,
      counts: tokens.counts.slice(),
      heads: tokens.heads.slice(),
      pool: tokens.pool.slice(),
    },
    words: texts.map(({ vocabulary }) => vocabulary.words.slice()),
  };
}

/** Copies the rows. Returns undefined if a pause ended the work. */
async function copyRows(snapshot: Snapshot, slices: Slices): Promise<StoredRows | undefined> {
  const { read, total, keys, digests, texts, localeOf, lists } = snapshot;
  const stored: StoredRows = {
    keys: new Float64Array(read.length),
    digests: new BigUint64Array(read.length),
    locales: new Int32Array(read.length),
    counts: new Int32Array(read.length),
    tokens: new Int32Array(total),
  };
  let end = 0;
  const copy = (at: number) => {
    const row = read[at] as number;
    const text = localeOf[row];
    stored.keys[at] = keys[row] as number;
    stored.digests[at] = digests[row] as bigint;
    stored.locales[at] = text === undefined ? -1 : texts.indexOf(text);
    const count = listCount(lists, row);
    stored.counts[at] = count;
    const head = lists.heads[row] as number;
    if (count === 1) stored.tokens[end] = head;
    else stored.tokens.set(lists.pool.subarray(head, head + count), end);
    end += count;
  };
  return (await inSlices(read.length, copy, slices)) ? stored : undefined;
}
