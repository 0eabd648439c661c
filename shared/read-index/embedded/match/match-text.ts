import { rest } from '../../../turns/slice.ts';
import { type TextQuery, textComparison } from '../../compare-text.ts';
import { foldText } from '../../fold-text.ts';
import { type Dictionary, distinctTerms, ngramsOf, termText } from '../columns/dictionary.ts';
import type { IndexedColumn } from '../columns/indexed-column.ts';
import { LONGEST_NGRAM, rarestBucket } from '../columns/ngram-index.ts';
import { textForms } from '../columns/number-column.ts';
import { dictionaryOf } from '../columns/term-column.ts';
import { ROW_COST, VERIFY_COST } from '../lists/costs.ts';
import { collectPosting } from '../lists/postings.ts';
import { listCount, listEntry } from '../lists/row-lists.ts';
import type { RowSetIndex } from '../rows/row-set.ts';
import { MATCH_NOTHING, type Matcher, matchPresent } from './matcher.ts';

/** Numbers of the terms that may match. */
type Candidates = { readonly count: number; readonly at: (index: number) => number };

/** Number of distinct texts up to which checking each is as fast as an n-gram index. */
const SCANNED_TEXTS = 128;

/** Matches rows whose text form satisfies the comparison with the query's value. */
export function matchText(rowSet: RowSetIndex, column: IndexedColumn, query: TextQuery): Matcher {
  const { store } = column;
  if (query.value === '' && query.match !== 'equals') return matchPresent(rowSet, column);
  const texts =
    store.kind === 'terms' ? dictionaryOf(store.column, rowSet.size) : textForms(store.column, rowSet.size);
  return matchTexts(texts, store.column.presentCount, query);
}

function matchTexts(texts: Dictionary, rows: number, query: TextQuery): Matcher {
  const candidates = candidateTerms(texts, query);
  if (candidates.count === 0) return MATCH_NOTHING;
  const isMatch = textComparison(query);
  const matches = (term: number) => {
    const text = termText(texts, term, query.fold);
    return text !== undefined && isMatch(text);
  };
  let next = 0;
  const rowsPerTerm = rows / Math.max(1, distinctTerms(texts));
  return {
    estimate: Math.min(rows, candidates.count * rowsPerTerm),
    cost: candidates.count * (VERIFY_COST + rowsPerTerm * ROW_COST),
    testCost: VERIFY_COST,
    collect: (into) => {
      while (next < candidates.count) {
        const term = candidates.at(next);
        if (matches(term)) collectPosting(texts.postings, term, into);
        next++;
        if ((next & 63) === 0) rest(64);
      }
    },
    test: (row) => matches(texts.terms[row] as number),
  };
}

/** Returns every term that can match, and some that do not. */
function candidateTerms(texts: Dictionary, query: TextQuery): Candidates {
  const needle = query.fold ? query.value : foldText(query.value);
  // Folding works on code points, so half of a surrogate pair cannot be looked up in folded texts.
  const scan = distinctTerms(texts) <= SCANNED_TEXTS || needle.length === 0 || !query.value.isWellFormed();
  if (scan) return { count: texts.values.length, at: (index) => index };
  const ngrams = ngramsOf(texts, Math.min(needle.length, LONGEST_NGRAM));
  const { buckets } = ngrams;
  const bucket = rarestBucket(ngrams, needle);
  return { count: listCount(buckets, bucket), at: (index) => listEntry(buckets, bucket, index) };
}
