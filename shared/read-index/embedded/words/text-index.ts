import { valueAt } from '../../../map-values.ts';
import { readWords, type WordReader } from '../../../search/row-words.ts';
import type { SearchField, SearchSettings } from '../../../search/search-settings.ts';
import { rest } from '../../../turns/slice.ts';
import type { World } from '../../read-index.ts';
import { type IndexedColumn, sortValue } from '../columns/indexed-column.ts';
import { hasBit } from '../lists/bits.ts';
import { addToPosting, type Postings, removeFromPosting } from '../lists/postings.ts';
import {
  clearList,
  createRowLists,
  fillList,
  listValues,
  type RowLists,
  reserveLists,
} from '../lists/row-lists.ts';
import type { RowSetIndex, Step } from '../rows/row-set.ts';
import { type RowSets, stepsFrom } from '../rows/row-sets.ts';
import { endsOf, startsOf } from '../rows/step-ends.ts';
import { createLocaleText, type LocaleText } from './locale-text.ts';
import { dropWord, internPlainWord, internWord, type KnownWord } from './vocabulary.ts';

/** A searched field, and its location in the index. */
export type TextField = SearchField & {
  /** Place of its weight among the weights of all fields, from the largest. */
  readonly rank: number;
  readonly column: IndexedColumn;
  /** Steps from a row to the rows that have the column. */
  readonly steps: readonly Step[];
};

/**
 * Words of the texts of a row set. A change marks its row, and the next search reads that row again. The first search makes the index, or
 * `warm` makes it before. If a slice ends meanwhile, the next search continues.
 */
export type TextIndex = {
  readonly rowSet: RowSetIndex;
  readonly settings: SearchSettings;
  readonly fields: readonly TextField[];
  readonly locales: Map<string, LocaleText>;
  /** Locale of each row's words. */
  readonly localeOf: (LocaleText | undefined)[];
  /** Numbers of each row's words in order. A negative number precedes the words of a value: -1 - its field. */
  readonly tokens: RowLists;
  /** Rows whose words must be read again. */
  readonly changed: Set<number>;
  /** Number of rows that have been read, from row 0 on. */
  read: number;
  isWatching: boolean;
};

/** Cost of reading a word, in steps of a slice. */
const WORD_STEPS = 8;

/** Creates an index that has read no row. `bringUpToDate` reads the rows. Omits searched fields whose column the index does not have. */
export function createTextIndex(
  rowSets: RowSets,
  world: World,
  rowSet: RowSetIndex,
  settings: SearchSettings,
): TextIndex {
  const weights = [...new Set(settings.fields.map(({ weight }) => weight))].sort((a, b) => b - a);
  return {
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
    read: 0,
    isWatching: false,
  };
}

/** Returns whether each world needs an index of its own. Both worlds may have the same rows, but not the same related rows. */
export function isPerWorld({ fields }: SearchSettings): boolean {
  return fields.some(({ path }) => path.length > 0);
}

/** Reads all rows that have not been read or have changed since. If a call ends with its slice, the next call continues. */
export function bringUpToDate(index: TextIndex): void {
  watch(index);
  while (index.read < index.rowSet.size) {
    if (index.read === SAMPLE_ROWS) reserveTokens(index);
    rest(1 + WORD_STEPS * readRow(index, index.read++));
  }
  for (const row of index.changed) {
    index.changed.delete(row);
    rest(1 + WORD_STEPS * readRow(index, row));
  }
}

/** Rows after which the memory for the words of all rows is estimated. */
const SAMPLE_ROWS = 1_000;
/** Rows differ, and an estimate that is too small costs a copy. */
const MARGIN = 1.05;

function reserveTokens({ tokens, rowSet }: TextIndex): void {
  reserveLists(tokens, rowSet.size, Math.ceil(((tokens.poolUsed * rowSet.size) / SAMPLE_ROWS) * MARGIN));
}

/** Returns the number of rows whose words must still be read. */
export function unreadRows({ rowSet, read, changed }: TextIndex): number {
  return rowSet.size - read + changed.size;
}

/** Registers watchers. From then on, changes mark their rows. */
function watch(index: TextIndex): void {
  if (index.isWatching) return;
  const mark = (row: number) => {
    if (row < index.read) index.changed.add(row);
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

/** Reads a row. Returns the number of its words. */
function readRow(index: TextIndex, row: number): number {
  forgetRow(index, row);
  if (!hasBit(index.rowSet.present, row)) return 0;
  const text = localeText(index, localeOfRow(index, row));
  const tokens: number[] = [];
  let words = 0;
  for (const [at, field] of index.fields.entries()) {
    text.stamp++;
    for (const end of endsOf(field.steps, row)) {
      const reader = createValueReader(index, text, { row, field: at, tokens });
      readWords(field, sortValue(field.column, end), text.locale, reader);
      words += reader.words();
    }
  }
  fillList(index.tokens, row, tokens);
  if (words > 0) {
    index.localeOf[row] = text;
    text.rows++;
  }
  return words;
}

/** Value whose words are read, and the tokens of its row so far. */
type TextAddress = { readonly row: number; readonly field: number; readonly tokens: number[] };

function createValueReader(
  index: TextIndex,
  text: LocaleText,
  address: TextAddress,
): WordReader & { readonly words: () => number } {
  const kind = index.fields[address.field]?.kind ?? 'text';
  const { vocabulary } = text;
  let words = 0;
  const add = (number: number) => {
    if (words++ === 0) address.tokens.push(-1 - address.field);
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
  { rowSet }: TextIndex,
  text: LocaleText,
  { row, field, tokens }: TextAddress,
  number: number,
): void {
  tokens.push(number);
  if (!isStopWord(text, number)) text.lengths[field] = (text.lengths[field] as number) + 1;
  if (isRepeated(text, number)) return;
  addToPosting(text.postings[field] as Postings, number, row, rowSet.size);
}

/** Returns whether the current value already had the word. */
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
      // A field may have several values. A word counts once for each field.
      if (field !== -1 - token) text.stamp++;
      field = -1 - token;
      continue;
    }
    if (!isStopWord(text, token)) text.lengths[field] = (text.lengths[field] as number) - 1;
    if (!isRepeated(text, token)) removeFromPosting(text.postings[field] as Postings, token, row);
  }
  // A word is forgotten when no row has it any more, so its rows are removed from the postings first.
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

/** Returns the texts of a locale, which may have no words yet. */
function localeText({ fields, locales }: TextIndex, locale: string): LocaleText {
  return valueAt(locales, locale, () => createLocaleText(locale, fields.length));
}
