import { createFastDigest, DIGESTED_AT_ONCE } from '../../fast-digest.ts';
import { inSlices, type Slices } from './slices.ts';

/** An array of a file. */
export type FileArray = Uint8Array | Uint16Array | Int32Array | Float64Array | BigUint64Array;

/** Takes the arrays of a file in their order, without a copy. */
export type PartReader = {
  readonly bytes: () => Uint8Array;
  readonly shorts: () => Uint16Array;
  readonly numbers: () => Int32Array;
  readonly doubles: () => Float64Array;
  readonly digests: () => BigUint64Array;
};

/** Digest of the rest of the file, the length of the header, and four unused bytes. */
const PREFIX_BYTES = 16;
const DIGEST_BYTES = 8;
const ALIGNED = 8;
/** Bytes that count as one item of work in slices. */
const PIECE_BYTES = 2 ** 14;

/** Rounds up to a multiple of eight bytes, so that an array of 8-byte numbers can begin there. */
function alignedBytes(bytes: number): number {
  return Math.ceil(bytes / ALIGNED) * ALIGNED;
}

/**
 * Makes a file of a header and arrays, in slices. The header also gets the number of bytes of each array, as `parts`. Returns undefined if
 * a pause ended the work.
 */
export async function createFile(
  header: object,
  parts: readonly FileArray[],
  slices: Slices,
): Promise<Uint8Array | undefined> {
  const lengths = parts.map(({ byteLength }) => byteLength);
  const beginning = Buffer.from(JSON.stringify({ ...header, parts: lengths }));
  const arrays = [beginning, ...parts].map(
    ({ buffer, byteOffset, byteLength }) => new Uint8Array(buffer, byteOffset, byteLength),
  );
  const length = arrays.reduce((bytes, array) => bytes + alignedBytes(array.length), PREFIX_BYTES);
  const file = new Uint8Array(length);
  const view = new DataView(file.buffer);
  view.setUint32(DIGEST_BYTES, beginning.length, true);
  let start = PREFIX_BYTES;
  for (const array of arrays) {
    const copy = (from: number, piece: Uint8Array) => file.set(piece, start + from);
    if (!(await eachPiece(array, copy, slices))) return undefined;
    start += alignedBytes(array.length);
  }
  const digest = createFastDigest();
  const add = (_from: number, piece: Uint8Array) => digest.update(piece);
  if (!(await eachPiece(file.subarray(DIGEST_BYTES), add, slices))) return undefined;
  view.setBigUint64(0, digest.digest(), true);
  return file;
}

/** Calls `work` for each piece of an array. Returns false if a pause ended the work. */
function eachPiece(
  array: Uint8Array,
  work: (from: number, piece: Uint8Array) => void,
  slices: Slices,
): Promise<boolean> {
  const pieces = Math.ceil(array.length / PIECE_BYTES);
  const workOn = (piece: number) => {
    const from = piece * PIECE_BYTES;
    work(from, array.subarray(from, from + PIECE_BYTES));
  };
  return inSlices(pieces, workOn, slices);
}

/** Reads the header of a file, in steps. Returns undefined if the file is incomplete. */
export function* openFile<Header>(
  bytes: Uint8Array<ArrayBuffer>,
): Generator<void, { readonly header: Header; readonly parts: PartReader } | undefined, void> {
  if (bytes.length < PREFIX_BYTES) return undefined;
  const digest = createFastDigest();
  for (let at = DIGEST_BYTES; at < bytes.length; at += DIGESTED_AT_ONCE) {
    digest.update(bytes.subarray(at, at + DIGESTED_AT_ONCE));
    yield;
  }
  const view = new DataView(bytes.buffer);
  if (digest.digest() !== view.getBigUint64(0, true)) return undefined;
  const length = view.getUint32(DIGEST_BYTES, true);
  const header = JSON.parse(Buffer.from(bytes.buffer, PREFIX_BYTES, length).toString());
  const parts = createPartReader(bytes.buffer, PREFIX_BYTES + alignedBytes(length), header.parts);
  return { header, parts };
}

function createPartReader(buffer: ArrayBuffer, start: number, lengths: readonly number[]): PartReader {
  let at = start;
  let part = 0;
  const next = (bytesEach: number): [ArrayBuffer, number, number] => {
    const [from, bytes] = [at, lengths[part++] as number];
    at += alignedBytes(bytes);
    return [buffer, from, bytes / bytesEach];
  };
  return {
    bytes: () => new Uint8Array(...next(Uint8Array.BYTES_PER_ELEMENT)),
    shorts: () => new Uint16Array(...next(Uint16Array.BYTES_PER_ELEMENT)),
    numbers: () => new Int32Array(...next(Int32Array.BYTES_PER_ELEMENT)),
    doubles: () => new Float64Array(...next(Float64Array.BYTES_PER_ELEMENT)),
    digests: () => new BigUint64Array(...next(BigUint64Array.BYTES_PER_ELEMENT)),
  };
}
