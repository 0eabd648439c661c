import { assertNever } from '../../assert-never.ts';
import type { BoolQuery } from '../bool-query.ts';
import { foldText } from '../fold-text.ts';
import type { IndexedColumn } from './indexed-column.ts';
import { MATCH_NOTHING, type Matcher, matchBits, ROW_COST } from './matcher.ts';
import { LONGEST_NGRAM, rarestBucket } from './ngram-index.ts';
import { textTwin } from './number-column.ts';
import { collectPosting } from './postings.ts';
import { listValues } from './row-lists.ts';
import type { RowSpaceIndex } from './row-space.ts';
import { distinctTerms, ngramsOf, type TermColumn, termText } from './term-column.ts';

type TextQuery = Extract<BoolQuery, { kind: 'text' }>;

/** With fewer distinct texts looking at each is as fast as asking an n-gram index. */
const SCANNED_TEXTS = 128;
/** Nanoseconds to look for a needle in a text, about. */
const VERIFY_COST = 40;

/** Rows whose text form compares with the query's value. */
export function matchText(space: RowSpaceIndex, column: IndexedColumn, query: TextQuery): Matcher {
  const { store } = column;
  if (query.value === '' && query.match !== 'equals') {
    return matchBits(() => store.column.present, store.column.presentCount, space.size / 32);
  }
  const texts = store.kind === 'terms' ? store.column : textTwin(store.column, space.size);
  return matchTexts(texts, query);
}

function matchTexts(column: TermColumn, query: TextQuery): Matcher {
  const candidates = candidateTerms(column, query);
  if (candidates.length === 0) return MATCH_NOTHING;
  const holds = comparison(query);
  const matches = (term: number) => {
    const text = termText(column, term, query.fold);
    return text !== undefined && holds(text);
  };
  const rowsPerTerm = column.presentCount / Math.max(1, distinctTerms(column));
  return {
    estimate: Math.min(column.presentCount, candidates.length * rowsPerTerm),
    cost: candidates.length * (VERIFY_COST + rowsPerTerm * ROW_COST),
    testCost: VERIFY_COST,
    collect: (into) => {
      for (let i = 0; i < candidates.length; i++) {
        const term = candidates[i] as number;
        if (matches(term)) collectPosting(column.postings, term, into);
      }
    },
    test: (row) => matches(column.terms[row] as number),
  };
}

/** Every term that can match, and some that do not. */
function candidateTerms(column: TermColumn, query: TextQuery): readonly number[] {
  const needle = query.fold ? query.value : foldText(query.value);
  // Folding works on code points, so half a surrogate pair cannot be looked up folded.
  const scan = distinctTerms(column) <= SCANNED_TEXTS || needle.length === 0 || !query.value.isWellFormed();
  if (scan) return [...column.values.keys()];
  const ngrams = ngramsOf(column, Math.min(needle.length, LONGEST_NGRAM));
  return listValues(ngrams.buckets, rarestBucket(ngrams, needle));
}

function comparison({ match, value }: TextQuery): (text: string) => boolean {
  switch (match) {
    case 'equals':
      return (text) => text === value;
    case 'contains':
      return (text) => text.includes(value);
    case 'prefix':
      return (text) => text.startsWith(value);
    case 'suffix':
      return (text) => text.endsWith(value);
    default:
      return assertNever(match);
  }
}
