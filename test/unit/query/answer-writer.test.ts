import { describe, expect, it } from 'vitest';
import {
  type AnswerWriter,
  createAnswer,
  joinRows,
  writeByte,
  writeBytes,
  writeShort,
} from '../../../services/query/answer-writer.ts';

import type { RowTree } from '../../../services/query/row-tree.ts';
import { createListWriting, createRowWriting } from '../../../services/query/write-rows.ts';
import { inSlice, SLICE_OVER } from '../../../shared/turns/slice.ts';

const writeAnswer = (write: (writer: AnswerWriter) => void) => createAnswer([write])();

const A = 0x61;

describe('an answer', () => {
  it('contains the written bytes in order', () => {
    const answer = writeAnswer((writer) => {
      writeShort(writer, Buffer.from('one '));
      writeBytes(writer, Buffer.from('Zwei—'));
      writeByte(writer, A);
    });
    expect(answer.toString()).toBe('one Zwei—a');
  });

  it.each([1, 100, 300_000, 5_000_000])('grows to any size, with pieces of %i bytes', (size) => {
    const piece = Buffer.alloc(size, A);
    const answer = writeAnswer((writer) => {
      for (let i = 0; i < 3; i++) writeBytes(writer, piece);
      for (let i = 0; i < 300; i++) writeShort(writer, Buffer.from('bcd'));
      for (let i = 0; i < 300; i++) writeByte(writer, A);
    });
    expect(answer.length).toBe(3 * size + 900 + 300);
    expect(answer.subarray(0, 3 * size).every((byte) => byte === A)).toBe(true);
    expect(answer.subarray(3 * size).toString()).toBe('bcd'.repeat(300) + 'a'.repeat(300));
  });

  it('is refused if no text of JavaScript could hold it', () => {
    // The array's pages are never touched, so it takes no memory.
    const quarter = new Uint8Array(2 ** 27);
    const writesAll = (writer: AnswerWriter) => {
      writeByte(writer, A);
      writer.length += 3 * quarter.length;
      writeBytes(writer, quarter);
    };
    const refusal = expect.objectContaining({
      code: 'query-too-large',
      message: 'The answer would have more than 536870888 bytes',
    });
    expect(() => writeAnswer(writesAll)).toThrow(refusal);
    expect(() => joinRows(quarter, [quarter, quarter], quarter)).toThrow(refusal);
  });

  it.each([1, 300_000])('keeps an answer of %i bytes unchanged while the next one is written', (size) => {
    const first = writeAnswer((writer) => writeBytes(writer, Buffer.alloc(size, A)));
    const second = writeAnswer((writer) => writeBytes(writer, Buffer.alloc(size, 0x7a)));
    expect(first.equals(Buffer.alloc(size, A))).toBe(true);
    expect(second.equals(Buffer.alloc(size, 0x7a))).toBe(true);
  });

  it('works after a failed answer, and if one answer writes another', () => {
    const broken = () =>
      writeAnswer((writer) => {
        writeByte(writer, A);
        throw new Error('no');
      });
    expect(broken).toThrow('no');
    let inner: Buffer = Buffer.alloc(0);
    const outer = writeAnswer((writer) => {
      writeByte(writer, A);
      inner = writeAnswer((other) => writeBytes(other, Buffer.from('inner')));
      writeByte(writer, A);
    });
    expect([outer.toString(), inner.toString()]).toEqual(['aa', 'inner']);
  });
});

describe('rows written in slices', () => {
  const sourced = (names: readonly string[]): RowTree => ({
    sources: names.map((name) => Buffer.from(JSON.stringify({ name }))),
    places: null,
    attributes: [],
  });
  const name = (attribute: string) => Buffer.from(`,${JSON.stringify(attribute)}:`);
  const leaves = sourced(Array.from({ length: 140 }, (_, i) => `leaf ${i}`));
  const tree: RowTree = {
    ...sourced(['a', 'b', 'c']),
    places: [0, 1, 0, 2],
    attributes: [
      { name: name('many'), value: { kind: 'rows', toMany: true, starts: [0, 130, 130, 140], tree: leaves } },
      { name: name('one'), value: { kind: 'rows', toMany: false, starts: [0, 1, 1, 2], tree: leaves } },
      { name: name('count'), value: { kind: 'counts', counts: [3, 0, 1] } },
      {
        name: name('zone'),
        value: {
          kind: 'zone',
          starts: [0, 0, 2, 2],
          components: [
            { tree: leaves, place: 3 },
            { tree: leaves, place: 1 },
          ],
        },
      },
    ],
  };

  it('have the same bytes as rows written at once, wherever slices end', () => {
    const whole = createAnswer([createListWriting(tree)])().toString();
    expect(JSON.parse(whole).map((row: { many: readonly object[] }) => row.many.length)).toEqual([
      130, 0, 130, 10,
    ]);
    for (const looks of [2, 3, 7]) {
      let time = 0;
      let slices = 0;
      const write = createAnswer([createListWriting(tree), createRowWriting(tree, 3)]);
      const slice = () => ({
        ...{ now: () => time++, steps: 1, restsAt: time + looks, haltsAt: Number.POSITIVE_INFINITY },
        ...{ refusesAt: Number.POSITIVE_INFINITY, refusal: () => new Error('refused') },
      });
      let written: Buffer | undefined;
      while (written === undefined) {
        slices++;
        try {
          written = inSlice(slice(), write);
        } catch (error) {
          if (error !== SLICE_OVER) throw error;
        }
      }
      expect(slices).toBeGreaterThan(3);
      expect(written.toString()).toBe(whole + JSON.stringify(JSON.parse(whole)[3]));
    }
  });
});
