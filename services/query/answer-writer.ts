import type { AnswerScope } from '../../shared/read-index/read-index.ts';
import { TURNS, taskOf } from '../../shared/turns/turns.ts';
import { checkBytes } from './answer-size.ts';
import { takeBody } from './body-buffers.ts';
import type { Selection } from './selection.ts';

/**
 * Bytes of an answer that is being written. Most bytes are copies of stored sources, so there are no strings to flatten and no pieces to
 * collect. Each piece is copied to its offset, and the whole answer once more when its length is known.
 */
export type AnswerWriter = { bytes: Uint8Array; length: number };

const FIRST_BYTES = 256 * 1024;
/** Larger buffers are not reused for the next answer. */
const MOST_KEPT_BYTES = 4 * 2 ** 20;

/** Buffer of the last answer. */
let spare: AnswerWriter['bytes'] | undefined;

/** Returns the bytes that all of `parts` write, one after the other. If a call ends with its slice, the next one continues. */
export function createAnswer(parts: readonly ((writer: AnswerWriter) => void)[]): () => Buffer {
  const writer: AnswerWriter = { bytes: spare ?? new Uint8Array(FIRST_BYTES), length: 0 };
  spare = undefined;
  let written = 0;
  return () => {
    for (; written < parts.length; written++) parts[written]?.(writer);
    const { bytes, length } = writer;
    // Another copy would take longer than the saved memory is worth.
    if (bytes.length > MOST_KEPT_BYTES) return Buffer.from(bytes.buffer, 0, length);
    const answer = takeBody(length);
    answer.set(bytes.subarray(0, length));
    spare = bytes;
    return answer;
  };
}

/** Writes an answer as its last work. A page without populated rows takes no slices. */
export function writeAnswer(
  answer: AnswerScope,
  { populate }: Selection,
  parts: readonly ((writer: AnswerWriter) => void)[],
): Buffer | Promise<Buffer> {
  const write = createAnswer(parts);
  return populate.length === 0 ? write() : TURNS.finish(taskOf(answer), () => write);
}

const COMMA = 0x2c;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;

/** Returns `before`, the sources as a JSON list, and `after`. Nothing is written into the sources, so the length is known. */
export function joinRows(before: Uint8Array, sources: readonly Uint8Array[], after: Uint8Array): Buffer {
  // Adds the bytes of two brackets and of the commas between rows.
  let length = before.length + after.length + 1 + Math.max(1, sources.length);
  for (const source of sources) length += source.length;
  checkBytes(length);
  const bytes = takeBody(length);
  bytes.set(before);
  let at = before.length;
  if (sources.length === 0) bytes[at++] = OPEN_LIST;
  let separator = OPEN_LIST;
  for (const source of sources) {
    bytes[at++] = separator;
    separator = COMMA;
    bytes.set(source, at);
    at += source.length;
  }
  bytes[at++] = CLOSE_LIST;
  bytes.set(after, at);
  return bytes;
}

/** Writes a byte. The buffer grows by itself. */
export function writeByte(writer: AnswerWriter, byte: number): void {
  if (writer.length === writer.bytes.length) grow(writer, 1);
  writer.bytes[writer.length++] = byte;
}

/** Copies bytes into the answer. The buffer grows by itself. */
export function writeBytes(writer: AnswerWriter, bytes: Uint8Array): void {
  if (writer.length + bytes.length > writer.bytes.length) grow(writer, bytes.length);
  writer.bytes.set(bytes, writer.length);
  writer.length += bytes.length;
}

/** Writes names and other short pieces: below some twenty bytes faster than `writeBytes`. */
export function writeShort(writer: AnswerWriter, bytes: Uint8Array): void {
  const { length } = bytes;
  if (writer.length + length > writer.bytes.length) grow(writer, length);
  for (let i = 0; i < length; i++) writer.bytes[writer.length + i] = bytes[i] as number;
  writer.length += length;
}

function grow(writer: AnswerWriter, more: number): void {
  checkBytes(writer.length + more);
  const grown = new Uint8Array(Math.max(writer.bytes.length * 2, writer.length + more));
  grown.set(writer.bytes.subarray(0, writer.length));
  writer.bytes = grown;
}
