import { fastTextDigest } from '../../fast-digest.ts';
import { valueAt } from '../../map-values.ts';
import { readWords, type WordReader } from '../../search/row-words.ts';
import type { SearchField, SearchSettings } from '../../search/search-settings.ts';
import { PART, rest } from '../../turns/slice.ts';
import type { World } from '../read-index.ts';
import { hasBit } from './bits.ts';
import { grown } from './grown.ts';
import { type IndexedColumn, sortValue } from './indexed-column.ts';
import { createLocaleText, type LocaleText } from './locale-text.ts';
import { addToPosting, type Postings, removeFromPosting } from './postings.ts';
import { appendToList, clearList, createRowLists, listValues, type RowLists } from './row-lists.ts';
import type { RowSetIndex, Step } from './row-set.ts';
import { type RowSets, stepsFrom } from './row-sets.ts';
import { endsOf, startsOf } from './step-ends.ts';
import { dropWord, internPlainWord, internWord, type KnownWord } from './vocabulary.ts';

/** A field whose texts are searched, and where a row has it. */
export type TextField = SearchField & {
  /** Its place among the weights of all fields, from the largest. */
  readonly rank: number;
  readonly column: IndexedColumn;
  /** The way from a row to the rows that have the column. */
  readonly steps: readonly Step[];
};

/**
 * The words of the texts of a row set. A change marks its row, and the next search reads that row again. The index is made by the
 * first search, or before by `warm`. If its making ends with a slice, the next search continues it.
 */
export type TextIndex = {
  /** Distinguishes the words that an index stores. */
  readonly name: string;
  readonly rowSet: RowSetIndex;
  readonly settings: SearchSettings;
  readonly fields: readonly TextField[];
  readonly locales: Map<string, LocaleText>;
  /** By row: the locale that its words are in. */
  readonly localeOf: (LocaleText | undefined)[];
  /**
   * By row: the numbers of its words in order. Below zero is what comes before the words of a value: -1 - its field.
   */
  tokens: RowLists;
  /** Rows whose words are to be read again. */
  readonly changed: Set<number>;
  /** Rows that have changed while stored words were being taken. */
  changedMeanwhile: Set<number> | undefined;
  /** Takes stored words in steps, before anything is read. */
  restoring: Iterator<void> | undefined;
  /** By row: the digest of what its words were read from; 0 = they have not been read. */
  digests: BigUint64Array;
  /** Rows below this have been read. */
  read: number;
  /** Rows that have been read since the words were last stored. */
  unsaved: number;
  isWatching: boolean;
};

/** Cost of reading a word, in steps of a slice. */
const WORD_STEPS = 8;

/** Creates an index that has read no row: `bringUpToDate` does. Omits searched fields whose column the index does not have. */
export function createTextIndex(
  rowSets: RowSets,
  world: World,
  rowSet: RowSetIndex,
  settings: SearchSettings,
): TextIndex {
  const weights = [...new Set(settings.fields.map(({ weight }) => weight))].sort((a, b) => b - a);
  return {
    name: [rowSet.type, rowSet.version, ...(isPerWorld(settings) ? [world] : [])].join('.'),
    rowSet,
    settings,
    fields: settings.fields.flatMap((field) => {
      const { steps, end } = stepsFrom(rowSets, rowSet, world, field.path);
      const column = end.columnsByField.get(field.attribute);
      return column === undefined ? [] : [{ ...field, column, steps, rank: weights.indexOf(field.weight) }];
    }),
    locales: new Map(),
    localeOf: [],
    tokens: createRowLists(false),
    changed: new Set(),
    changedMeanwhile: undefined,
    restoring: undefined,
    digests: new BigUint64Array(0),
    read: 0,
    unsaved: 0,
    isWatching: false,
  };
}

/** The rows of both worlds are the same, but not what they are related to. */
export function isPerWorld({ fields }: SearchSettings): boolean {
  return fields.some(({ path }) => path.length > 0);
}

/** Reads what has not been read, and again what has changed. */
export function bringUpToDate(index: TextIndex): void {
  while (index.restoring !== undefined) {
    restoreSome(index);
    rest(PART);
  }
  watch(index);
  while (index.read < index.rowSet.size) rest(1 + WORD_STEPS * readRow(index, index.read++));
  for (const row of index.changed) {
    index.changed.delete(row);
    rest(1 + WORD_STEPS * readRow(index, row));
  }
}

/** Rows whose words are still to be read, or to be taken from where they are stored. */
export function unreadRows({ rowSet, read, changed }: TextIndex): number {
  return rowSet.size - read + changed.size;
}

/** Reads the words of so many rows, outside of any slice. */
export function readSome(index: TextIndex, rows: number): void {
  if (index.restoring !== undefined) {
    restoreSome(index);
    return;
  }
  watch(index);
  for (let left = rows; left > 0; left--) {
    if (index.read < index.rowSet.size) readRow(index, index.read++);
    else {
      const [row] = index.changed;
      if (row === undefined) return;
      index.changed.delete(row);
      readRow(index, row);
    }
  }
}

function restoreSome(index: TextIndex): void {
  if (index.restoring?.next().done === true) index.restoring = undefined;
}

/** Registers watchers: from now on changes mark their rows. */
export function watch(index: TextIndex): void {
  if (index.isWatching) return;
  const mark = (row: number) => {
    if (row < index.read) index.changed.add(row);
    index.changedMeanwhile?.add(row);
  };
  const markStarts = (steps: readonly Step[]) => (row: number) => {
    for (const start of startsOf(steps, row)) mark(start);
  };
  for (const { column, steps } of index.fields) {
    column.watchers.add(markStarts(steps));
    for (const [level, { down }] of steps.entries()) down.watchers.add(markStarts(steps.slice(0, level)));
  }
  index.rowSet.columnsByField.get('locale')?.watchers.add(mark);
  // The id of a row changes when the row is added or removed.
  index.rowSet.ids.watchers.add(mark);
  index.isWatching = true;
}

/** Returns how many words were read. */
function readRow(index: TextIndex, row: number): number {
  forgetRow(index, row);
  noteDigest(index, row);
  index.unsaved++;
  if (!hasBit(index.rowSet.present, row)) return 0;
  const text = localeText(index, localeOfRow(index, row));
  let words = 0;
  for (const [at, field] of index.fields.entries()) {
    text.stamp++;
    for (const end of endsOf(field.steps, row)) {
      const reader = createValueReader(index, text, { row, field: at });
      readWords(field, sortValue(field.column, end), text.locale, reader);
      words += reader.words();
    }
  }
  if (words > 0) {
    index.localeOf[row] = text;
    text.rows++;
  }
  return words;
}

/** Digest of everything that the words of a row are read from. */
export function digestOfRow(index: TextIndex, row: number): bigint {
  let texts = localeOfRow(index, row);
  for (const { column, steps } of index.fields) {
    texts += ';';
    for (const end of endsOf(steps, row)) {
      const value = sortValue(column, end);
      if (typeof value === 'string') texts += `${value.length}:${value}`;
    }
  }
  return fastTextDigest(texts);
}

function noteDigest(index: TextIndex, row: number): void {
  if (row >= index.digests.length) {
    const length = Math.max(row + 1, index.rowSet.size, index.digests.length * 2);
    index.digests = grown(index.digests, new BigUint64Array(length));
  }
  index.digests[row] = hasBit(index.rowSet.present, row) ? digestOfRow(index, row) : 0n;
}

type TextAddress = { readonly row: number; readonly field: number };

function createValueReader(
  index: TextIndex,
  text: LocaleText,
  address: TextAddress,
): WordReader & { readonly words: () => number } {
  const kind = index.fields[address.field]?.kind ?? 'text';
  const { vocabulary } = text;
  let words = 0;
  const add = (number: number) => {
    if (words++ === 0) appendToList(index.tokens, address.row, -1 - address.field);
    addWord(index, text, address, number);
  };
  return {
    words: () => words,
    read: (word) => add(internWord(vocabulary, word, kind)),
    readPlain: (value, start, end, hash) =>
      add(
        kind === 'text'
          ? internPlainWord(vocabulary, value, { start, end, hash })
          : internWord(vocabulary, value.slice(start, end), kind),
      ),
  };
}

function addWord(
  { tokens, rowSet }: TextIndex,
  text: LocaleText,
  { row, field }: TextAddress,
  number: number,
): void {
  appendToList(tokens, row, number);
  if (!isStopWord(text, number)) text.lengths[field] = (text.lengths[field] as number) + 1;
  if (isRepeated(text, number)) return;
  addToPosting(text.postings[field] as Postings, number, row, rowSet.size);
}

/** Whether the value that is being read had the word before. */
function isRepeated({ lastSeen, stamp }: LocaleText, number: number): boolean {
  if (lastSeen[number] === stamp) return true;
  for (let at = lastSeen.length; at < number; at++) lastSeen.push(0);
  lastSeen[number] = stamp;
  return false;
}

function isStopWord({ vocabulary }: LocaleText, number: number): boolean {
  return (vocabulary.words[number] as KnownWord).isStopWord;
}

function forgetRow({ tokens, localeOf }: TextIndex, row: number): void {
  const text = localeOf[row];
  if (text === undefined) return;
  let field = -1;
  for (const token of listValues(tokens, row)) {
    if (token < 0) {
      // A field may have several values.
      if (field !== -1 - token) text.stamp++;
      field = -1 - token;
      continue;
    }
    if (!isStopWord(text, token)) text.lengths[field] = (text.lengths[field] as number) - 1;
    if (!isRepeated(text, token)) removeFromPosting(text.postings[field] as Postings, token, row);
  }
  // A word is forgotten when no row has it any more, so its postings come first.
  for (const token of listValues(tokens, row)) if (token >= 0) dropWord(text.vocabulary, token);
  clearList(tokens, row);
  text.rows--;
  localeOf[row] = undefined;
}

function localeOfRow({ rowSet, settings }: TextIndex, row: number): string {
  const column = rowSet.columnsByField.get('locale');
  const value = column === undefined ? null : sortValue(column, row);
  return typeof value === 'string' ? value : settings.locale;
}

/** Returns the words of a locale, which may be none yet. */
export function localeText({ fields, locales }: TextIndex, locale: string): LocaleText {
  return valueAt(locales, locale, () => createLocaleText(locale, fields.length));
}
