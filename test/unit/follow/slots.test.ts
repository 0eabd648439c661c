import fc from 'fast-check';
import { expect, it } from 'vitest';
import { slotsOf } from '../../../services/follow/slots.ts';

const members = fc.uniqueArray(fc.string({ minLength: 1, maxLength: 3 }), { maxLength: 12 });

function growsAlong(list: readonly string[], slots: ReadonlyMap<string, number>): boolean {
  const numbers = list.map((member) => slots.get(member) ?? Number.NaN);
  return numbers.every((number, at) => at === 0 || number > (numbers[at - 1] ?? 0));
}

it('assigns increasing numbers along the list, whatever numbers its members have', () => {
  fc.assert(
    fc.property(members, fc.array(fc.integer({ min: -3, max: 12 }), { maxLength: 12 }), (list, numbers) => {
      const known = new Map(numbers.map((number, at) => [list[at] ?? `gone ${at}`, number]));
      const slots = slotsOf(list, known);
      expect(slots.size).toBe(list.length);
      expect(growsAlong(list, slots)).toBe(true);
    }),
  );
});

it('keeps increasing numbers when members are inserted and removed', () => {
  fc.assert(
    fc.property(members, fc.func(fc.boolean()), (list, isNew) => {
      const before = slotsOf(list, new Map());
      const known = new Map([...before].filter(([member]) => !isNew(member)));
      const slots = slotsOf(list, known);
      for (const [member, number] of known) expect(slots.get(member)).toBe(number);
      expect(growsAlong(list, slots)).toBe(true);
    }),
  );
});

it('renumbers one member if one was moved', () => {
  const before = slotsOf(['a', 'b', 'c', 'd', 'e'], new Map());
  const after = slotsOf(['e', 'a', 'b', 'c', 'd'], before);
  expect(
    [...after].filter(([member, slot]) => before.get(member) !== slot).map(([member]) => member),
  ).toEqual(['e']);
});

it('renumbers a list if no number fits between two others', () => {
  const known = new Map([
    ['a', 1],
    ['b', 1 + Number.EPSILON],
  ]);
  expect([...slotsOf(['a', 'x', 'b'], known)]).toEqual([
    ['a', 1],
    ['x', 2],
    ['b', 3],
  ]);
});
