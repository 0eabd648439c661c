import fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  addToTable,
  createWordTable,
  fillTable,
  numberOf,
  numbersOf,
  removeFromTable,
} from '../../../shared/read-index/embedded/word-table.ts';

/** Generates few texts, so that several numbers share one, and more numbers than a table has chains at first. */
const text = fc.oneof(
  fc.constantFrom('', 'a', 'b', 'ab', 'été', '語'),
  fc.nat(200).map((number) => `word${number}`),
);
const steps = fc.array(fc.record({ text, number: fc.nat(300), isStored: fc.nat(60).map((at) => at === 0) }), {
  maxLength: 400,
  size: 'max',
});

it('has the numbers of each text, also after it was stored and loaded', () => {
  fc.assert(
    fc.property(steps, (all) => {
      const texts = new Map<number, string>();
      const textOf = (number: number) => texts.get(number) ?? expect.unreachable();
      let table = createWordTable(textOf);
      for (const { text: added, number, isStored } of all) {
        const known = texts.get(number);
        if (known === undefined) {
          texts.set(number, added);
          addToTable(table, added, number);
        } else {
          texts.delete(number);
          removeFromTable(table, known, number);
        }
        expect(table.count).toBe(texts.size);
        if (!isStored) continue;
        const { heads, next, count } = structuredClone({ ...table, textOf: undefined });
        table = createWordTable(textOf);
        fillTable(table, { heads, next }, count);
      }
      for (const wanted of [...texts.values(), 'nowhere']) {
        const expected = [...texts].filter(([, each]) => each === wanted).map(([number]) => number);
        expect([...numbersOf(table, wanted)].sort((a, b) => a - b)).toEqual(expected.sort((a, b) => a - b));
        expect(texts.get(numberOf(table, wanted) ?? -1)).toBe(expected.length > 0 ? wanted : undefined);
      }
    }),
    { numRuns: 200 },
  );
});

it('has short chains for words that differ in their ends', () => {
  const words = Array.from({ length: 50_000 }, (_, at) => `review${at}`);
  const table = createWordTable((number) => words[number] as string);
  for (const [number, word] of words.entries()) addToTable(table, word, number);
  const lengths = [...table.heads].map((first) => {
    let length = 0;
    for (let number = first; number >= 0; number = table.next[number] as number) length++;
    return length;
  });
  expect(Math.max(...lengths)).toBeLessThan(12);
});
