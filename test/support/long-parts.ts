import { LONGEST } from './longest-files.ts';

/** A part of the files of tests: the second of eight is `{ part: 2, of: 8 }`. */
export type Part = { readonly part: number; readonly of: number };

/** Returns the part that VARVE_LONG_TESTS names: `2/8`, or `1` for all. Throws for anything else. */
export function readPart(text: string): Part {
  const [, part, of = '1'] = /^([1-9]\d?)(?:\/([1-9]\d?))?$/.exec(text) ?? [];
  if (part === undefined || Number(part) > Number(of))
    throw new Error(`VARVE_LONG_TESTS is "${text}", not 1 (all) or a part such as 2/8`);
  return { part: Number(part), of: Number(of) };
}

/** Returns whether the long tests of the file at `path` belong to the part. Each file belongs to one part, and parts take about equally long. */
export function isInPart(path: string, { part, of }: Part): boolean {
  const name = path.replace(/^.*\/test\//, '').replace(/\.test\.ts$/, '');
  const rank = LONGEST.indexOf(name);
  return (rank === -1 ? sumOf(name) : rank) % of === part - 1;
}

function sumOf(name: string): number {
  let sum = 0;
  for (const character of name) sum += character.charCodeAt(0);
  return sum;
}
