import { AS_SPLIT, TYPO_LEVELS } from '../../../search/match-word.ts';
import { FAR, LAST_RANK, nearnessOf } from '../../../search/rank-hits.ts';
import type { SearchField } from '../../../search/search-settings.ts';
import { stemsField, stemToken } from '../layout/word-tokens.ts';
import type { Dsl, IntervalsDsl } from '../plan/dsl.ts';
import type { LocaleWords, WordScope, WordTerm } from './find-words.ts';
import { type TierUnits, tierUnits } from './placed-score.ts';
import { hasToken, type MatchedWord, tokensOf } from './read-words.ts';
import { anyWord, hasPair, inSequence, oneOf } from './word-intervals.ts';

const MOST_TYPOS = 2;
/** Worth of a word with one typo, relative to the word itself, as in `rank-rows.ts`. */
const TYPO_WORTH = 0.5;
const EVERYTHING: Dsl = { match_all: {} };

type RankScope = Pick<WordScope, 'settings' | 'fields'> & { readonly units: TierUnits };

/** Matches the documents that `locales` describe. The score gives their order. */
export function rankedQuery(
  { settings, fields, text }: Pick<WordScope, 'settings' | 'fields' | 'text'>,
  locales: readonly LocaleWords[],
): Dsl {
  const scope: RankScope = { settings, fields, units: tierUnits(text.placed) };
  const isQuestion = locales.some(({ mode }) => mode === 'any');
  const asked = locales.filter(({ terms }) => terms.length > 0);
  if (asked.length === 0) return hasToken([]);
  // Locales may have different stop words. Terms that one locale lacks count as matched.
  const most = Math.max(0, ...asked.map(({ terms }) => terms.length));
  const options = asked.map((words) =>
    isQuestion
      ? { bool: { filter: [matchQuery(scope, [words])], should: scoresOf(scope, words) } }
      : { bool: tiersOf(scope, words, most) },
  );
  // A document has one locale. If that has several readings, the best one counts.
  return asked.length > new Set(asked.map(({ locale }) => locale)).size
    ? { dis_max: { queries: options } }
    : { bool: { should: options, minimum_should_match: 1 } };
}

/** Matches the documents that `locales` describe: all terms of one locale, or any term with the mode `any`. */
export function matchQuery({ fields }: Pick<WordScope, 'fields'>, locales: readonly LocaleWords[]): Dsl {
  const isQuestion = locales.some(({ mode }) => mode === 'any');
  const options = locales
    .filter(({ terms }) => terms.length > 0)
    .map(({ locale, terms }): Dsl => {
      const tokens = terms.map(({ words }) => tokensOf(locale, words, fields));
      const pairs = terms.map((term) => hasPair(fields, locale, term.pairs));
      if (isQuestion) return oneOf([hasToken([...new Set(tokens.flat())]), ...pairs]);
      return { bool: { filter: tokens.map((each, at) => oneOf([hasToken(each), pairs[at] as Dsl])) } };
    });
  return oneOf(options);
}

function constant(filter: Dsl, boost: number): Dsl {
  return { constant_score: { filter, boost } };
}

function best(queries: readonly Dsl[]): Dsl[] {
  return queries.length === 0 ? [] : [{ dis_max: { queries } }];
}

/** Returns the queries of all tiers. A document that all terms match is in a tier of each term, so the tiers also decide the match. */
function tiersOf(
  scope: RankScope,
  { locale, terms }: LocaleWords,
  most: number,
): { readonly must: readonly Dsl[]; readonly should: readonly Dsl[] } {
  const lacking = most - terms.length;
  const { typos, near, weight, exact } = scope.units;
  const asMatched = lacking * (MOST_TYPOS * typos + FAR * near + LAST_RANK * weight + exact);
  return {
    must: terms.map((term) => termTiers(scope, locale, term)),
    should: [
      ...terms.flatMap((term) => exactTier(scope, locale, term)),
      ...nearPairs(scope, locale, terms).flatMap((pair) => best(distances(pair, near))),
      ...(lacking > 0 ? [constant(EVERYTHING, asMatched)] : []),
    ],
  };
}

/** Ranks the matches of a term: first by fewest typos, then by the weight of the field. */
function termTiers({ settings, fields, units }: RankScope, locale: string, { words, pairs }: WordTerm): Dsl {
  const weights = [...new Set(settings.fields.map(({ weight }) => weight))].sort((a, b) => b - a);
  const rankOf = (field: SearchField) => Math.min(LAST_RANK, weights.indexOf(field.weight));
  const ranks = [...new Set(fields.map(rankOf))];
  const tiers = TYPO_LEVELS.flatMap((typos) => {
    const alike = words.filter(({ match }) => match.typos === typos);
    return ranks.flatMap((rank) => {
      const ranked = fields.filter((field) => rankOf(field) === rank);
      const matched = hasToken(tokensOf(locale, alike, ranked));
      const split = typos === AS_SPLIT.typos ? [hasPair(ranked, locale, pairs)] : [];
      const boost = (MOST_TYPOS - typos) * units.typos + (LAST_RANK - rank) * units.weight;
      return [matched, ...split].flatMap((query) => ('match_none' in query ? [] : [constant(query, boost)]));
    });
  });
  return tiers.length === 0 ? hasToken([]) : { dis_max: { queries: tiers } };
}

/** Ranks exact matches of a term. A document with a word of fewer typos counts with that word, so another word is not exact in it. */
function exactTier({ fields, units }: RankScope, locale: string, { words, pairs }: WordTerm): Dsl[] {
  const having = (level: number, isWanted: (word: MatchedWord) => boolean) => {
    const split = level === AS_SPLIT.typos ? [hasPair(fields, locale, pairs)] : [];
    return [hasToken(tokensOf(locale, words.filter(isWanted), fields)), ...split];
  };
  const isThere = (query: Dsl) => !('match_none' in query);
  return TYPO_LEVELS.flatMap((typos, at) => {
    const exact = oneOf(having(typos, ({ match }) => match.isExact && match.typos === typos));
    const levels = TYPO_LEVELS.slice(0, at);
    const closer = levels
      .flatMap((level) => having(level, ({ match }) => match.typos === level))
      .filter(isThere);
    if (!isThere(exact)) return [];
    return [
      constant(closer.length === 0 ? exact : { bool: { filter: [exact], must_not: closer } }, units.exact),
    ];
  });
}

/** Returns the words of each two neighbouring terms that may be near to each other. */
function nearPairs(
  { fields }: RankScope,
  locale: string,
  terms: readonly WordTerm[],
): (readonly [IntervalsDsl, IntervalsDsl])[] {
  const alike = ({ words }: WordTerm, typos: number) => words.filter(({ match }) => match.typos === typos);
  const counts = terms.map((term) => TYPO_LEVELS.map((typos) => alike(term, typos).length));
  const { typos, isNear } = nearnessOf(counts, fields.length);
  const meant = terms.map((term, at) => alike(term, typos[at] as number));
  return isNear.flatMap((near, at) => {
    const [before = [], after = []] = meant.slice(at, at + 2);
    return near ? [[anyWord(locale, before, fields), anyWord(locale, after, fields)] as const] : [];
  });
}

/** Scores the distance of two words. The wrong order counts as one word more. */
function distances([first, second]: readonly [IntervalsDsl, IntervalsDsl], near: number): Dsl[] {
  const queries: Dsl[] = [];
  for (let distance = 1; distance < FAR; distance++) {
    const boost = (FAR - distance) * near;
    queries.push(constant(inSequence([first, second], distance - 1), boost));
    if (distance > 1) queries.push(constant(inSequence([second, first], distance - 2), boost));
  }
  return queries;
}

/** Returns BM25 queries over the stems of the words that match, with the weight of each field. */
function scoresOf({ fields }: RankScope, { locale, terms }: LocaleWords): Dsl[] {
  // Elasticsearch requires weights of at least 1.
  const least = Math.min(1, ...fields.map(({ weight }) => weight));
  const weighted = fields.map(({ name, weight }) => `${stemsField(name)}^${weight / least}`);
  return terms.flatMap(({ term, words }) =>
    best(
      [...stemsOf(locale, words)].map(([query, typos]) => ({
        combined_fields: { query, fields: weighted, boost: term.count * TYPO_WORTH ** typos },
      })),
    ),
  );
}

/** Returns the stems of words, each with the fewest typos. */
function stemsOf(locale: string, words: readonly MatchedWord[]): ReadonlyMap<string, number> {
  const stems = new Map<string, number>();
  for (const word of words) {
    const token = stemToken(locale, word);
    stems.set(token, Math.min(word.match.typos, stems.get(token) ?? MOST_TYPOS));
  }
  return stems;
}
