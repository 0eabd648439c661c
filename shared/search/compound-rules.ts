/** Rules for words that are written together. */
export type CompoundRules = {
  /** Sounds between two words. The empty text is one of them. */
  readonly links: readonly string[];
  /** Endings of the last word. The empty text is one of them. */
  readonly endings: readonly string[];
};

const GERMAN = rulesOf('s es e n en er ns ens', 's es e n en er');
const DUTCH = rulesOf('s e en er', 's en n je jes tje tjes');
const SWEDISH = rulesOf('s e a o u', 's a ar arna e en er erna et ets n na or orna t');
const DANISH = rulesOf('s e er n', 's e en ene er ene erne et n ne r');
const NORWEGIAN = rulesOf('s e er', 's a e en ene er et n ne r');
const FINNISH = rulesOf('n en in s', 'a n t i en in ien ja lla lle lta na ssa sta tta');
/** Rules for a language for which the schema asks for parts of words. */
const PLAIN = rulesOf('', '');

const RULES: Readonly<Record<string, CompoundRules>> = {
  da: DANISH,
  de: GERMAN,
  fi: FINNISH,
  nb: NORWEGIAN,
  nl: DUTCH,
  nn: NORWEGIAN,
  no: NORWEGIAN,
  sv: SWEDISH,
};

function rulesOf(links: string, endings: string): CompoundRules {
  const listOf = (text: string) => ['', ...text.split(' ').filter((each) => each !== '')];
  return { links: listOf(links), endings: listOf(endings) };
}

/**
 * Returns the rules by which words in a locale are found by their parts; undefined if they are not. `compounds`: the option of the type (see
 * `SearchSettings`).
 */
export function compoundRules(locale: string, compounds: boolean | undefined): CompoundRules | undefined {
  if (compounds === false) return undefined;
  return RULES[locale.split(/[-_]/)[0]?.toLowerCase() ?? ''] ?? (compounds === true ? PLAIN : undefined);
}
