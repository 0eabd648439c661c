import { addToList, valueAt } from '../map-values.ts';
import { remembered } from '../remembered.ts';
import type { SynonymGroups } from '../schema/content-type.ts';
import { foldWord } from './fold-word.ts';
import { splitWords } from './split-words.ts';

/** Words and phrases that count as equal in one locale. Words are folded. */
export type Synonyms = {
  /** Other words that count as a word, by the word. */
  readonly words: ReadonlyMap<string, readonly string[]>;
  /** Phrases, by their first word. A phrase or one of its synonyms has several words. */
  readonly phrases: ReadonlyMap<string, readonly PhraseSynonyms[]>;
};

export type PhraseSynonyms = {
  readonly phrase: readonly string[];
  readonly others: readonly (readonly string[])[];
};

const ANY_LOCALE = '*';

const byLocale = remembered((_: readonly SynonymGroups[]) => new Map<string, Synonyms | undefined>());

/** Returns the synonyms of a locale, including those of every locale. */
export function synonymsIn(synonyms: readonly SynonymGroups[], locale: string): Synonyms | undefined {
  return valueAt(byLocale(synonyms), locale, () => readGroups(synonyms, locale));
}

function readGroups(synonyms: readonly SynonymGroups[], locale: string): Synonyms | undefined {
  const groups = synonyms.flatMap((each) => [...(each[ANY_LOCALE] ?? []), ...(each[locale] ?? [])]);
  if (groups.length === 0) return undefined;
  const words = new Map<string, string[]>();
  const phrases = new Map<string, PhraseSynonyms[]>();
  for (const group of groups) {
    const members = group.map((text) => splitWords(text, locale).map(({ word }) => foldWord(word)));
    for (const member of members) addMember(member, members, { words, phrases });
  }
  return { words, phrases };
}

type Found = {
  readonly words: Map<string, string[]>;
  readonly phrases: Map<string, PhraseSynonyms[]>;
};

/** Maps a member of a group to its synonyms, which are all other members. */
function addMember(
  member: readonly string[],
  members: readonly (readonly string[])[],
  { words, phrases }: Found,
): void {
  const [first] = member;
  if (first === undefined) return;
  const others = members.filter((other) => other.length > 0 && other.join(' ') !== member.join(' '));
  const isWord = (phrase: readonly string[]) => phrase.length === 1 && member.length === 1;
  for (const other of others.filter(isWord)) addToList(words, first, other[0] as string);
  const longer = others.filter((other) => !isWord(other));
  if (longer.length > 0) addToList(phrases, first, { phrase: member, others: longer });
}
