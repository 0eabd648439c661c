import { NAME_LENGTH, NAME_WORDS } from './packed-names.ts';
import type { TagForm } from './tag-headers.ts';

/** Writer of the header of one answer: its names, each once, in the order of the calls. */
export type NameHeader = {
  /** Begins the next header. `expected`: maximum number of names. */
  begin(expected: number): void;
  /** Adds the name whose words begin at `at`. Returns false if there is no room. */
  add(words: Uint32Array, at: number): boolean;
  /** Ends the header with names in plain text, and returns it; undefined if there is no room. */
  end(plain: ReadonlySet<string>): string | undefined;
};

/** Maximum bytes between two names. They are written as one word. */
const LONGEST_SEPARATOR = 4;

/**
 * Creates the writer of headers in a receiver's form. It reuses its memory for each answer. It writes bytes, because a text for each name
 * would be one more object.
 */
export function createNameHeader({ tags, bytes, separator, quote }: TagForm): NameHeader {
  const between = Buffer.from(quote + separator + quote);
  const betweenWord = Buffer.concat([between, Buffer.alloc(LONGEST_SEPARATOR)]).readUInt32LE();
  const header = Buffer.allocUnsafeSlow(bytes + between.length + NAME_LENGTH + LONGEST_SEPARATOR);
  const view = new DataView(header.buffer, header.byteOffset, header.length);
  /** Last place at which a name may end. */
  const last = bytes - quote.length;
  const names = new Uint32Array(tags * NAME_WORDS);
  /** Numbers of names, from 1 on. Few names use only the first slots, which stay in the nearest cache of the processor. */
  const slots = new Uint16Array(2 ** slotBits(tags));
  let mask = 0;
  let shift = 0;
  let room = 0;
  let size = 0;
  let at = 0;
  header.write(quote, 'latin1');
  return {
    begin(expected) {
      room = Math.min(expected, tags);
      const bits = slotBits(room);
      mask = (1 << bits) - 1;
      shift = 32 - bits;
      // For so few slots `fill` takes longer.
      for (let slot = 0; slot <= mask; slot++) slots[slot] = 0;
      size = 0;
      at = quote.length;
    },
    add(words, from) {
      const first = words[from] as number;
      const second = words[from + 1] as number;
      // Names are digests: their last characters are as good as a hash.
      let slot = Math.imul(second, HASH) >>> shift;
      for (let number = slots[slot]; number !== 0; number = slots[slot]) {
        const known = ((number as number) - 1) * NAME_WORDS;
        if (names[known] === first && names[known + 1] === second) return true;
        slot = (slot + 1) & mask;
      }
      const next = at + NAME_LENGTH;
      if (size === room || next > last) return false;
      const own = size * NAME_WORDS;
      names[own] = first;
      names[own + 1] = second;
      size++;
      slots[slot] = size;
      view.setUint32(at, first, true);
      view.setUint32(at + 4, second, true);
      view.setUint32(next, betweenWord, true);
      at = next + between.length;
      return true;
    },
    end(plain) {
      if (size + plain.size > tags) return undefined;
      for (const name of plain) {
        if (at + name.length > last) return undefined;
        at += header.write(name, at, 'latin1');
        at += between.copy(header, at);
      }
      // After the last name comes only a quotation mark.
      return header.toString('latin1', 0, at - between.length + quote.length);
    },
  };
}

/** Factor of a multiplicative hash (Knuth): a prime number near 2³² divided by the golden ratio. */
const HASH = 0x9e3779b1;

/** Returns a number of slots: at least twice the number of names. */
function slotBits(names: number): number {
  return 32 - Math.clz32(2 * names + 1);
}
