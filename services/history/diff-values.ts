import { isRecord } from '../../shared/json-record.ts';
import { diffSequences, type Run } from './diff-sequences.ts';

/** A difference of two versions. `path` has the slots of lists in the second version, such as `sections.0.title`. */
export type ValueDifference =
  | { readonly path: string; readonly from: unknown; readonly to: unknown; readonly words?: readonly Words[] }
  /** Members of a list. `at`: the slot, of removed members in the first version. */
  | { readonly path: string; readonly added: readonly Member[]; readonly removed: readonly Member[] };

type Member = { readonly at: number; readonly value: unknown };

/** A run of a text. */
export type Words = { readonly kind: Run<string>['kind']; readonly text: string };

/** Characters of two texts. Longer ones are not compared word by word. */
const MOST_COMPARED = 200_000;

const SEGMENTER = new Intl.Segmenter('und', { granularity: 'word' });

/** `words`: compares texts word by word. */
type DiffOptions = { readonly words: boolean };

/** Returns the differences of two objects as answers show them. A member that one of them lacks is null there. */
export function diffValues(
  from: Readonly<Record<string, unknown>>,
  to: Readonly<Record<string, unknown>>,
  options: DiffOptions,
  path = '',
): readonly ValueDifference[] {
  const names = new Set([...Object.keys(from), ...Object.keys(to)]);
  return [...names].flatMap((name) =>
    diffValue(from[name] ?? null, to[name] ?? null, options, path === '' ? name : `${path}.${name}`),
  );
}

function diffValue(
  from: unknown,
  to: unknown,
  options: DiffOptions,
  path: string,
): readonly ValueDifference[] {
  if (JSON.stringify(from) === JSON.stringify(to)) return [];
  if (isList(from) && isList(to)) return diffLists(from, to, options, path);
  if (isPart(from) && isPart(to) && isSameKind(from, to)) return diffValues(from, to, options, path);
  if (!options.words || typeof from !== 'string' || typeof to !== 'string') return [{ path, from, to }];
  return [{ path, from, to, words: diffWords(from, to) }];
}

/** Returns the words of two texts as runs. */
function diffWords(from: string, to: string): readonly Words[] {
  if (from.length + to.length > MOST_COMPARED)
    return [
      { kind: 'removed', text: from },
      { kind: 'added', text: to },
    ];
  const runs = diffSequences(wordsIn(from), wordsIn(to), (word) => word);
  return runs.map(({ kind, items }) => ({ kind, text: items.join('') }));
}

function wordsIn(text: string): readonly string[] {
  return Array.from(SEGMENTER.segment(text), ({ segment }) => segment);
}

/** Compares the members of lists. A member that replaces one of the same kind is compared with it. */
function diffLists(
  from: readonly Part[],
  to: readonly Part[],
  options: DiffOptions,
  path: string,
): readonly ValueDifference[] {
  const added: Member[] = [];
  const removed: Member[] = [];
  const changed: ValueDifference[] = [];
  let [x, y] = [0, 0];
  let open: Member[] = [];
  for (const { kind, items } of diffSequences(from, to, (item) => JSON.stringify(item))) {
    if (kind !== 'added') {
      removed.push(...open);
      open = kind === 'removed' ? items.map((value, slot) => ({ at: x + slot, value })) : [];
      x += items.length;
      if (kind === 'same') y += items.length;
      continue;
    }
    for (const value of items) {
      const replaced = open.at(0)?.value;
      if (isPart(replaced) && isPart(value) && isComponentPair(replaced, value)) {
        open.shift();
        changed.push(...diffValues(replaced, value, options, `${path}.${y}`));
      } else added.push({ at: y, value });
      y++;
    }
  }
  removed.push(...open);
  const members = added.length + removed.length === 0 ? [] : [{ path, added, removed }];
  return [...changed, ...members];
}

type Part = Readonly<Record<string, unknown>>;

function isPart(value: unknown): value is Part {
  return isRecord(value) && !Array.isArray(value);
}

/** Returns whether a value is a list of components or links. Other lists are JSON, which is compared as a whole. */
function isList(value: unknown): value is readonly Part[] {
  return Array.isArray(value) && value.every(isPart);
}

/** Links name their documents. Two of them have nothing else to compare. */
function isComponentPair(from: Part, to: Part): boolean {
  return !('documentId' in from) && !('documentId' in to) && isSameKind(from, to);
}

function isSameKind(from: Part, to: Part): boolean {
  return from['__component'] === to['__component'] && from['documentId'] === to['documentId'];
}
