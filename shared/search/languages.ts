import { createRequire } from 'node:module';
import { valueAt } from '../map-values.ts';
import { createRecentValues } from '../recent-values.ts';
import { foldWord } from './fold-word.ts';
import { REMEMBERED_LOCALES } from './remembered-locales.ts';

/** Rules for the words of one language. */
export type Language = {
  /** Locale whose dictionary splits texts without spaces. */
  readonly locale: string;
  /** Returns the folded stem of a word in lower case. */
  readonly stem: (word: string) => string;
  /** True if a stem begins with the same letter as its word, if that is an ASCII letter. */
  readonly keepsFirstLetter: boolean;
  /** Stop words, folded. */
  readonly stopWords: ReadonlySet<string>;
};

/** Names of a language in the two packages. */
type Names = { readonly stemmer?: string; readonly stopWords?: string };

const NAMES: Readonly<Record<string, Names>> = {
  ar: { stemmer: 'arabic', stopWords: 'ara' },
  bg: { stemmer: 'bulgarian', stopWords: 'bul' },
  cs: { stopWords: 'ces' },
  da: { stemmer: 'danish', stopWords: 'dan' },
  de: { stemmer: 'german', stopWords: 'deu' },
  el: { stemmer: 'greek', stopWords: 'ell' },
  en: { stemmer: 'english', stopWords: 'eng' },
  es: { stemmer: 'spanish', stopWords: 'spa' },
  et: { stopWords: 'est' },
  fi: { stemmer: 'finnish', stopWords: 'fin' },
  fr: { stemmer: 'french', stopWords: 'fra' },
  ga: { stemmer: 'irish', stopWords: 'gle' },
  hi: { stemmer: 'indian', stopWords: 'hin' },
  hr: { stopWords: 'hrv' },
  hu: { stemmer: 'hungarian', stopWords: 'hun' },
  hy: { stemmer: 'armenian', stopWords: 'hye' },
  id: { stemmer: 'indonesian', stopWords: 'ind' },
  it: { stemmer: 'italian', stopWords: 'ita' },
  ja: { stopWords: 'jpn' },
  ko: { stopWords: 'kor' },
  lt: { stemmer: 'lithuanian', stopWords: 'lit' },
  nb: { stemmer: 'norwegian', stopWords: 'nob' },
  ne: { stemmer: 'nepali' },
  nl: { stemmer: 'dutch', stopWords: 'nld' },
  no: { stemmer: 'norwegian', stopWords: 'nob' },
  pl: { stopWords: 'pol' },
  pt: { stemmer: 'portuguese', stopWords: 'por' },
  ro: { stemmer: 'romanian', stopWords: 'ron' },
  ru: { stemmer: 'russian', stopWords: 'rus' },
  sk: { stopWords: 'slk' },
  sl: { stopWords: 'slv' },
  sr: { stemmer: 'serbian' },
  sv: { stemmer: 'swedish', stopWords: 'swe' },
  ta: { stemmer: 'tamil' },
  th: { stopWords: 'tha' },
  tr: { stemmer: 'turkish', stopWords: 'tur' },
  uk: { stemmer: 'ukrainian', stopWords: 'ukr' },
  vi: { stopWords: 'vie' },
  zh: { stopWords: 'zho' },
};

/** Languages whose stemmers only remove endings. */
const OF_ENDINGS = new Set([
  ...['danish', 'english', 'finnish', 'french', 'german', 'hungarian', 'italian', 'norwegian'],
  ...['portuguese', 'romanian', 'russian', 'spanish', 'swedish'],
]);

const languages = createRecentValues<string, Language>(REMEMBERED_LOCALES);

/** Returns the language of a locale such as `fr-CA`. A language that no package knows has no stems and no stop words. */
export function languageOf(locale: string): Language {
  return valueAt(languages, locale, () => {
    const name = locale.split(/[-_]/)[0]?.toLowerCase() ?? '';
    return { locale, ...wordRules(Object.hasOwn(NAMES, name) ? name : '') };
  });
}

type WordRules = Omit<Language, 'locale'>;

const rulesOf = new Map<string, WordRules>();

/** Returns what all locales of a language have in common. */
function wordRules(language: string): WordRules {
  return valueAt(rulesOf, language, () => {
    const { stemmer, stopWords } = NAMES[language] ?? {};
    return {
      stem: stemmer === undefined ? foldWord : foldedStems(loadStemmer(stemmer)),
      keepsFirstLetter: stemmer === undefined || OF_ENDINGS.has(stemmer),
      stopWords: new Set(stopWords === undefined ? [] : loadStopWords(stopWords)),
    };
  });
}

/** Number of words per language whose stems are cached. */
const CACHED_STEMS = 10_000;

/** Folds stems. Stemmers depend on accents, so they run before the folding. */
function foldedStems(stem: (word: string) => string): (word: string) => string {
  const recent = createRecentValues<string, string>(CACHED_STEMS);
  return (word) => {
    const known = recent.get(word);
    if (known !== undefined) return known;
    const found = foldWord(stem(word));
    recent.set(word, found);
    return found;
  };
}

/** Packages are loaded when they are first used. All of them together would delay each start by about 60 ms. */
const load = createRequire(import.meta.url);

function loadStemmer(name: string): (word: string) => string {
  return (load(`@orama/stemmers/${name}`) as { readonly stemmer: (word: string) => string }).stemmer;
}

function loadStopWords(name: string): readonly string[] {
  const lists = load('stopword') as Readonly<Record<string, readonly string[]>>;
  return (lists[name] ?? []).map((word) => foldWord(word.toLowerCase()));
}
