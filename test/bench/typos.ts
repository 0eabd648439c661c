import type { Document } from './collections.ts';
import type { Random } from './embedded-data.ts';

type TitleWord = { readonly word: string; readonly documents: readonly string[] };

/** Largest number of titles that may contain a rare word. */
const FEW_TITLES = 5;
const LETTERS = 'abcdefghijklmnopqrstuvwxyz';

/** Returns the words of at least `letters` letters that few titles contain, with the documents of these titles. */
export function rareTitleWords(documents: readonly Document[], letters: number): readonly TitleWord[] {
  const titles = new Map<string, Set<string>>();
  for (const { id, title } of documents) {
    for (const [word] of title.toLowerCase().matchAll(/[a-z]+/g)) {
      if (word.length >= letters) titles.set(word, (titles.get(word) ?? new Set()).add(id));
    }
  }
  return [...titles]
    .filter(([, found]) => found.size <= FEW_TITLES)
    .map(([word, found]) => ({ word, documents: [...found] }));
}

/** Returns the word with so many typos. Letters except the first are inserted, deleted, replaced or swapped. */
export function corrupt(word: string, typos: number, random: Random): string {
  let corrupted = word;
  for (let done = 0; done < typos; ) {
    const next = withTypo(corrupted, random);
    if (next === corrupted || next === word) continue;
    corrupted = next;
    done++;
  }
  return corrupted;
}

function withTypo(word: string, random: Random): string {
  const at = random.between(1, word.length - 1);
  const letter = LETTERS[random.below(LETTERS.length)] ?? 'e';
  const [before, rest] = [word.slice(0, at), word.slice(at)];
  switch (random.below(4)) {
    case 0:
      return before + letter + rest;
    case 1:
      return before + rest.slice(1);
    case 2:
      return before + letter + rest.slice(1);
    default:
      return before + rest.slice(1, 2) + rest.slice(0, 1) + rest.slice(2);
  }
}
