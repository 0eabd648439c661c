import { fastDigestBits } from '../../fast-digest.ts';
import type { LocaleText } from './locale-text.ts';
import { listCount } from './row-lists.ts';
import { inSlices, type Slices } from './slices.ts';
import {
  alignedBytes,
  rowsIn,
  STORED_PREFIX_BYTES,
  type StoredHeader,
  sizeOfRows,
  type WordFiles,
  wordsBasis,
} from './stored-words.ts';
import type { TextIndex } from './text-index.ts';
import type { KnownWord } from './vocabulary.ts';

const FEW_ROWS = 1_000;
/** The file of a large type is written whole, so an eighth of its rows must have changed. */
const SHARE = 8;

const saving = new WeakMap<TextIndex, Promise<unknown>>();

/** Stores the words of an index if many rows were read since, in slices. Does nothing while it is being stored. */
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

type Snapshot = ReturnType<typeof snapshotOf>;

/** False when a pause said that there is no more to be done. */
async function save(index: TextIndex, files: WordFiles, slices: Slices): Promise<boolean> {
  const snapshot = snapshotOf(index);
  const rows = new Uint8Array(sizeOfRows(snapshot));
  const words: string[] = [];
  if (!(await copyRows(snapshot, rows.buffer, slices))) return false;
  for (const { words: known } of snapshot.locales) {
    const lines: string[] = [];
    const isDone = await inSlices(
      known.length,
      (from, to) => {
        for (const word of known.slice(from, to)) lines.push(lineOf(word));
      },
      slices,
    );
    if (!isDone) return false;
    words.push(lines.join('\n'));
  }
  const written = words.map((text) => Buffer.from(text));
  const locales = snapshot.locales.map(({ locale }, at) => ({
    locale,
    bytes: written[at]?.length ?? 0,
  }));
  const { basis, tokens } = snapshot;
  await files.write(index.name, bytesOf({ basis, rows: snapshot.rows, tokens, locales }, [rows, ...written]));
  return true;
}

/** Copies what other turns change. */
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
    rows: read.length,
    tokens: total,
    read,
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
    locales: texts.map(({ locale, vocabulary }) => ({ locale, words: vocabulary.words.slice() })),
  };
}

/** False when a pause said that there is no more to be done. */
function copyRows(snapshot: Snapshot, into: ArrayBuffer, slices: Slices): Promise<boolean> {
  const { read, keys, digests, texts, localeOf, lists } = snapshot;
  const { stored } = rowsIn(into, 0, snapshot);
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
  return inSlices(
    read.length,
    (from, to) => {
      for (let at = from; at < to; at++) copy(at);
    },
    slices,
  );
}

/** A line for each number. The forms are left out where they are the word's own. */
function lineOf(word: KnownWord | undefined): string {
  if (word === undefined) return '';
  const { key, folded, stem = '' } = word;
  return folded === key && stem === folded ? key : `${key}\t${folded}\t${stem}`;
}

function bytesOf(header: StoredHeader, contents: readonly Uint8Array[]): Uint8Array {
  const json = Buffer.from(JSON.stringify(header));
  const start = Buffer.alloc(alignedBytes(STORED_PREFIX_BYTES + json.length));
  start.writeUInt32LE(json.length, STORED_PREFIX_BYTES / 2);
  start.set(json, STORED_PREFIX_BYTES);
  const whole = Buffer.concat([start, ...contents]);
  whole.writeBigUInt64LE(fastDigestBits(whole.subarray(STORED_PREFIX_BYTES / 2)), 0);
  return whole;
}
