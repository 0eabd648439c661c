import { createSequence } from '../../../turns/sequence.ts';
import { rest } from '../../../turns/slice.ts';
import { DEEPEST, NO_WORD, ROOT, type WordTrie } from './word-trie.ts';

/** Searches for words that equal a text, or begin with it, except for some typos. */
export type NearSearch = { readonly text: string; readonly typos: number; readonly isPrefix: boolean };

/**
 * Called for each word. `hasBeginning`: the word begins with the text. Otherwise the word may still differ, so the caller must compare it.
 */
type Visit = (word: number, hasBeginning: boolean) => void;

/** Cost of a node and of a found word, in steps of a slice. */
const NODE_STEPS = 1;
export const WORD_STEPS = 5;

/** Number of letters of a text that matter in a trie. Later letters are below its deepest nodes. */
const COMPARED = DEEPEST + 2;
/** More typos than a search may allow: no match was found yet. */
const NONE_YET = 9;
/** Numbers of a frame on the stack. */
const FRAME = 9;

/**
 * Calls `visit` for all words that are as near to the text as `typoDistance` requires, and for a few others. It may visit a word twice. If
 * a call ends with its slice, the next call continues.
 */
export function createNearWalk(trie: WordTrie, search: NearSearch, visit: Visit): () => void {
  return createSequence(partsOf(trie, search).map((part) => createWalk(trie, part, visit)));
}

/** Part of a walk: a pattern to find below some nodes. */
type Part = {
  readonly nodes: readonly { readonly node: number; readonly depth: number }[];
  readonly pattern: string;
  readonly typos: number;
  readonly isPrefix: boolean;
  /** True if the pattern is the whole text except for letters that the nodes already have. */
  readonly isWhole: boolean;
};

/** Splits a search into parts. A typo in the first letter counts as two, so in that case no other letter differs. */
function partsOf(trie: WordTrie, { text, typos, isPrefix }: NearSearch): readonly Part[] {
  if (text === '') return [];
  const { same, others } = splitRoots(trie, text.charCodeAt(0));
  const [root, rest] = [[{ node: ROOT, depth: 0 }], text.slice(1)];
  const first: Part = { nodes: same, pattern: rest, typos, isPrefix, isWhole: true };
  if (typos < 2) return [first];
  const exactly = { typos: 0, isPrefix, isWhole: false };
  return [
    first,
    { ...exactly, nodes: others, pattern: rest },
    { ...exactly, nodes: others, pattern: text },
    { ...exactly, nodes: root, pattern: rest },
    { ...exactly, nodes: root, pattern: `${text.slice(1, 2)}${text.slice(0, 1)}${text.slice(2)}` },
  ];
}

function splitRoots({ letters, firstChild, nextSibling }: WordTrie, letter: number) {
  const same: Part['nodes'][number][] = [];
  const others: Part['nodes'][number][] = [];
  for (let node = firstChild[ROOT] as number; node !== 0; node = nextSibling[node] as number)
    (letters[node] === letter ? same : others).push({ node, depth: 1 });
  return { same, others };
}

/**
 * A walk through the trie. It tries all ways of comparing the pattern with the letters of a node at once. Bit i of `zero`, `one` or `two`
 * is about the first i letters of the pattern. It is set if they equal the letters so far, with up to that many typos. A node takes a few
 * operations, for any pattern.
 */
type Walk = {
  readonly trie: WordTrie;
  readonly typos: number;
  readonly isPrefix: boolean;
  readonly masks: ReadonlyMap<number, number>;
  /** Bit that says that the whole pattern matches; 0 if no node is deep enough. */
  readonly accept: number;
  /** Frames of nodes: node, depth, zero, one, two, zero and one of the parent, the mask of its letter, fewest typos so far. */
  readonly stack: number[];
  top: number;
};

function createWalk(trie: WordTrie, part: Part, visit: Visit): () => void {
  const { pattern, typos, isPrefix, isWhole, nodes } = part;
  const accept = pattern.length <= COMPARED ? 1 << pattern.length : 0;
  const best = isPrefix && pattern.length <= typos ? pattern.length : NONE_YET;
  const [one, two] = [typos < 1 ? 1 : 3, typos < 1 ? 1 : typos < 2 ? 3 : 7];
  const stack = nodes.flatMap(({ node, depth }) => [node, depth, 1, one, two, 0, 0, 0, best]);
  const walk: Walk = {
    trie,
    typos,
    isPrefix,
    accept,
    stack,
    masks: masksOf(pattern),
    top: stack.length,
  };
  return () => {
    while (walk.top > 0) {
      const at = walk.top - FRAME;
      let steps = NODE_STEPS;
      const fewest = stack[at + 8] as number;
      if (fewest !== NONE_YET || ((stack[at + 4] as number) & accept) !== 0 || stack[at + 1] === DEEPEST) {
        let word = trie.firstWord[stack[at] as number] as number;
        for (; word !== NO_WORD; word = trie.nextWord[word] as number) {
          visit(word, isWhole && fewest === 0);
          steps += WORD_STEPS;
        }
      }
      pushChildren(walk, at);
      rest(steps);
    }
  };
}

/** Replaces a node on the stack by its children that may lead to words. */
function pushChildren(walk: Walk, at: number): void {
  const { trie, typos, masks, stack } = walk;
  const depth = (stack[at + 1] as number) + 1;
  const [zero, one, two] = [stack[at + 2] as number, stack[at + 3] as number, stack[at + 4] as number];
  const [zeroAbove, oneAbove] = [stack[at + 5] as number, stack[at + 6] as number];
  const [maskAbove, best] = [(stack[at + 7] as number) >>> 1, stack[at + 8] as number];
  let top = at;
  let child = trie.firstChild[stack[at] as number] as number;
  for (; child !== 0; child = trie.nextSibling[child] as number) {
    const mask = masks.get(trie.letters[child] as number) ?? 0;
    const swap = mask & maskAbove;
    const none = (zero & mask) << 1;
    const single = typos < 1 ? none : withTypo(one & mask, zero, none, zeroAbove & swap);
    const double = typos < 2 ? single : withTypo(two & mask, one, single, oneAbove & swap);
    if (double === 0 && best === NONE_YET) continue;
    stack[top] = child;
    stack[top + 1] = depth;
    stack[top + 2] = none;
    stack[top + 3] = single;
    stack[top + 4] = double;
    stack[top + 5] = zero;
    stack[top + 6] = one;
    stack[top + 7] = mask;
    stack[top + 8] = Math.min(best, fewestTypos(walk, none, single, double));
    top += FRAME;
  }
  walk.top = top;
}

/**
 * Returns the bits with one typo more. `same`: the letter is the pattern's. Otherwise it is superfluous, replaces another letter, follows a
 * missing letter, or is swapped.
 */
function withTypo(same: number, fewer: number, fewerNow: number, swapped: number): number {
  return (same << 1) | fewer | ((fewer | fewerNow) << 1) | (swapped << 2);
}

/** Returns the fewest typos with which a beginning of the word matches the whole pattern. */
function fewestTypos({ accept, isPrefix }: Walk, none: number, single: number, double: number): number {
  if (!isPrefix || (double & accept) === 0) return NONE_YET;
  if ((none & accept) !== 0) return 0;
  return (single & accept) === 0 ? 2 : 1;
}

/** Returns the places of each letter in the pattern, as bits. */
function masksOf(pattern: string): ReadonlyMap<number, number> {
  const masks = new Map<number, number>();
  for (let at = 0; at < Math.min(pattern.length, COMPARED); at++) {
    const letter = pattern.charCodeAt(at);
    masks.set(letter, (masks.get(letter) ?? 0) | (1 << at));
  }
  return masks;
}
