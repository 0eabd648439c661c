/**
 * Reuses the memory of answers that were sent. A new buffer is in none of the processor's caches, and the system has to provide
 * its pages.
 */

/** Smaller bodies share Node's own buffers. */
const SMALLEST = 2 ** 12;
/** Larger ones are too rare to keep. */
const LARGEST = 2 ** 20;
/** Bytes that are kept for bodies to come. */
const MOST_KEPT = 4 * LARGEST;

/** Buffers that no answer has, by the power of two that is their size. */
const spare: ArrayBuffer[][] = Array.from({ length: 1 + Math.log2(LARGEST) }, () => []);
/** Buffers that an answer has. */
const lent = new WeakSet<ArrayBufferLike>();
let kept = 0;

/** Returns room for a body of `length` bytes; what is in it is of earlier answers. */
export function takeBody(length: number): Buffer {
  if (length < SMALLEST || length > LARGEST) return Buffer.allocUnsafe(length);
  const power = 32 - Math.clz32(length - 1);
  let bytes = spare[power]?.pop();
  if (bytes === undefined) bytes = Buffer.allocUnsafeSlow(2 ** power).buffer;
  else kept -= bytes.byteLength;
  lent.add(bytes);
  return Buffer.from(bytes, 0, length);
}

/** Takes back the memory of a body that nothing will read again. Whatever `takeBody` did not make is left alone. */
export function releaseBody(body: Uint8Array): void {
  const { buffer } = body;
  if (body.length < SMALLEST || !lent.delete(buffer) || kept + buffer.byteLength > MOST_KEPT) return;
  kept += buffer.byteLength;
  spare[31 - Math.clz32(buffer.byteLength)]?.push(buffer as ArrayBuffer);
}
