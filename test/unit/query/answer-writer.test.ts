import { describe, expect, it } from 'vitest';
import { writeAnswer, writeByte, writeBytes, writeShort } from '../../../services/query/answer-writer.ts';

const A = 0x61;

describe('writeAnswer', () => {
  it('gives what was written, in order', () => {
    const answer = writeAnswer((writer) => {
      writeShort(writer, Buffer.from('one '));
      writeBytes(writer, Buffer.from('Zwei—'));
      writeByte(writer, A);
    });
    expect(answer.toString()).toBe('one Zwei—a');
  });

  it.each([1, 100, 300_000, 5_000_000])('has room for answers of any size, pieces of %i bytes', (size) => {
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

  it.each([1, 300_000])('leaves an answer of %i bytes as it is when the next one is written', (size) => {
    const first = writeAnswer((writer) => writeBytes(writer, Buffer.alloc(size, A)));
    const second = writeAnswer((writer) => writeBytes(writer, Buffer.alloc(size, 0x7a)));
    expect(first.equals(Buffer.alloc(size, A))).toBe(true);
    expect(second.equals(Buffer.alloc(size, 0x7a))).toBe(true);
  });

  it('goes on when an answer could not be written, or writes another one', () => {
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
