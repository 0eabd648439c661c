import type { Difference } from '../../../projections/generations/digest.ts';
import type { GenerationStore } from '../../../projections/generations/generation-store.ts';

/** Prints the differences that stopped the last rebuild. */
export function showDifferences(store: GenerationStore, json: boolean): void {
  const found = store.rebuild()?.phase === 'stopped' ? store.differences() : [];
  if (json) console.log(JSON.stringify(found));
  else if (found.length === 0) console.error('No rebuild waits because of differences.');
  else for (const difference of found) console.log(differenceText(difference));
}

const SHOWN_CHARACTERS = 500;

/** Returns a difference for people: `-` in the live generation, `+` in the new one. */
export function differenceText({ group, name, before, after }: Difference): string {
  const side = (sign: string, text: string | undefined) =>
    text === undefined ? [] : [`  ${sign} ${text.slice(0, SHOWN_CHARACTERS).replaceAll('\n', ' ')}`];
  return [`${group}: ${name}`, ...side('-', before), ...side('+', after)].join('\n');
}
