import { grown } from '../lists/grown.ts';

/**
 * Words by their letters, so that a common beginning is compared once. A trie has only the numbers of its words. It omits letters after
 * `DEEPEST`, so that long words take no more memory than others.
 */
export type WordTrie = {
  nodes: number;
  readonly freeNodes: number[];
  /** Letter of each node, as a code unit. The next arrays have the nodes and words below it; 0 and -1 = none. Node 0 is the root. */
  letters: Uint16Array;
  firstChild: Int32Array;
  nextSibling: Int32Array;
  firstWord: Int32Array;
  /** Next word of the same node, by word. */
  nextWord: Int32Array;
};

/** Depth of the trie. Words that share this many letters are in one node. */
export const DEEPEST = 12;
const FIRST_NODES = 1_024;
export const ROOT = 0;
const NO_NODE = 0;
export const NO_WORD = -1;

/** Creates a trie without words. */
export function createWordTrie(): WordTrie {
  return {
    letters: new Uint16Array(FIRST_NODES),
    firstChild: new Int32Array(FIRST_NODES),
    nextSibling: new Int32Array(FIRST_NODES),
    firstWord: new Int32Array(FIRST_NODES).fill(NO_WORD),
    nextWord: new Int32Array(FIRST_NODES),
    nodes: 1,
    freeNodes: [],
  };
}

/** Adds the number of a folded word. Numbers should be small, because memory grows with the highest. */
export function addToTrie(trie: WordTrie, word: string, number: number): void {
  const depth = Math.min(word.length, DEEPEST);
  let node = ROOT;
  for (let at = 0; at < depth; at++) {
    const letter = word.charCodeAt(at);
    node = childOf(trie, node, letter) || addChild(trie, node, letter);
  }
  if (number >= trie.nextWord.length)
    trie.nextWord = grown(trie.nextWord, new Int32Array(Math.max(FIRST_NODES, number * 2)));
  trie.nextWord[number] = trie.firstWord[node] as number;
  trie.firstWord[node] = number;
}

/** Removes a number that was added for this word, and nodes without words. */
export function removeFromTrie(trie: WordTrie, word: string, number: number): void {
  const path = [ROOT];
  const depth = Math.min(word.length, DEEPEST);
  for (let at = 0; at < depth; at++) path.push(childOf(trie, path[at] as number, word.charCodeAt(at)));
  const { firstChild, nextSibling, firstWord, nextWord } = trie;
  unlink({ heads: firstWord, next: nextWord }, path[depth] as number, number);
  for (let at = depth; at > 0; at--) {
    const node = path[at] as number;
    if (firstWord[node] !== NO_WORD || firstChild[node] !== NO_NODE) return;
    unlink({ heads: firstChild, next: nextSibling }, path[at - 1] as number, node);
    trie.freeNodes.push(node);
  }
}

/** Removes a number from the chain that begins at a head. */
function unlink({ heads, next }: Record<'heads' | 'next', Int32Array>, head: number, number: number): void {
  const behind = next[number] as number;
  let before = heads[head] as number;
  if (before === number) {
    heads[head] = behind;
    return;
  }
  while (next[before] !== number) before = next[before] as number;
  next[before] = behind;
}

/** Returns the child node of a letter; 0 = no word continues with it. */
function childOf({ letters, firstChild, nextSibling }: WordTrie, node: number, letter: number): number {
  let child = firstChild[node] as number;
  while (child !== NO_NODE && letters[child] !== letter) child = nextSibling[child] as number;
  return child;
}

function addChild(trie: WordTrie, parent: number, letter: number): number {
  const node = trie.freeNodes.pop() ?? trie.nodes++;
  if (node >= trie.letters.length) grow(trie);
  trie.letters[node] = letter;
  trie.firstChild[node] = NO_NODE;
  trie.firstWord[node] = NO_WORD;
  trie.nextSibling[node] = trie.firstChild[parent] as number;
  trie.firstChild[parent] = node;
  return node;
}

function grow(trie: WordTrie): void {
  const length = trie.letters.length * 2;
  trie.letters = grown(trie.letters, new Uint16Array(length));
  trie.firstChild = grown(trie.firstChild, new Int32Array(length));
  trie.nextSibling = grown(trie.nextSibling, new Int32Array(length));
  trie.firstWord = grown(trie.firstWord, new Int32Array(length));
}
