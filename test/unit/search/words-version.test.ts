import { expect, it } from 'vitest';
import { fastDigestBits } from '../../../shared/fast-digest.ts';
import { languageOf } from '../../../shared/search/languages.ts';
import { indexedWord } from '../../../shared/search/match-word.ts';
import { splitWords } from '../../../shared/search/split-words.ts';
import { visibleText } from '../../../shared/search/visible-text.ts';
import { WORDS_VERSION } from '../../../shared/search/words-version.ts';

const LOCALES = ['ar', 'da', 'de', 'en', 'es', 'fi', 'fr', 'hi', 'it', 'nl', 'pt', 'ro', 'ru', 'sv', 'tr'];
const TEXTS = [
  'The boundary layers of <b>heated</b> plates &amp; AB-12’s theories',
  'Les élèves chantaient des maisons, straße naïve façade',
  'Menü [hier](http://x.test/a "Titel"), [dort][d] &eacute;t&#233;\n\n[d]: /wo',
  'l&rsquo;&alpha;, don&rsquo;t&hellip; na&iuml;ve&shy;t&eacute;',
  'كِتَابٌ الكتاب كتابی کتاب مدرسة أحمد ٱلله ـكـتـاب ١٢٣ שָׁלוֹם co\u00adoper\u200bation',
  'Über die Bewegungen der Häuser; los corredores hablaban; красивые дома',
];

/** Digest of the words of the texts, by version. If a test fails, raise the version and add a line. */
const DIGESTS: Readonly<Record<number, string>> = {
  1: '3j5dj6m87k0mm',
  2: '3v435r1ae1r9j',
  3: '1ud6jwvt6y6p5',
  4: 'tr5djuvv1w18',
};

it('has a version that changes with the words of texts', () => {
  const words = LOCALES.flatMap((locale) =>
    TEXTS.flatMap((text) =>
      splitWords(visibleText('richtext', text), locale).map(({ word }) => {
        const language = languageOf(locale);
        const { folded, stem } = indexedWord(language, word, 'text');
        return [word, folded, stem, language.stopWords.has(folded)];
      }),
    ),
  );
  expect(fastDigestBits(Buffer.from(JSON.stringify(words))).toString(36)).toBe(DIGESTS[WORDS_VERSION]);
});
