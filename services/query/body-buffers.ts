/**
 * Reuses the memory of answers that were sent. A new buffer is in none of the processor's caches, and the system has to provide its pages.
 */

/** Smaller bodies use Node's own shared buffers. */
const SMALLEST = 2 ** 12;
/** Larger ones are too rare to keep. */
const LARGEST = 2 ** 20;
/** Bytes that are kept for later bodies. */
const MOST_KEPT = 4 * LARGEST;

/** Buffers that no answer uses, by their size as a power of two. */
const spare: ArrayBuffer[][] = Array.from({ length: 1 + Math.log2(LARGEST) }, () => []);
/** Buffers that an answer uses. */
const lent = new WeakSet<ArrayBufferLike>();
let kept = 0;

/** Returns a buffer for a body of `length` bytes. It still contains bytes of earlier answers. */
export function takeBody(length: number): Buffer {
  if (length < SMALLEST || length > LARGEST) return Buffer.allocUnsafe(length);
  const power = 32 - Math.clz32(length - 1);
  let bytes = spare[power]?.pop();
  if (bytes === undefined) bytes = Buffer.allocUnsafeSlow(2 ** power).buffer;
  else kept -= bytes.byteLength;
  lent.add(bytes);
  return Buffer.from(bytes, 0, length);
}

/** Takes back the memory of a body that is not read any more. Ignores buffers that `takeBody` did not return. */
export function releaseBody(body: Uint8Array): void {
  const { buffer } = body;
  if (body.length < SMALLEST || !lent.delete(buffer) || kept + buffer.byteLength > MOST_KEPT) return;
  kept += buffer.byteLength;
  spare[31 - Math.clz32(buffer.byteLength)]?.push(buffer as ArrayBuffer);
}
