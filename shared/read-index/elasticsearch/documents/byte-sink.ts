/**
 * UTF-8 text that is being written. Documents share many of their parts. As bytes each part is copied once. As strings (which are UTF-16
 * here) it is copied again at every level, and encoded at the end.
 */
export type ByteSink = {
  /** Memory of the sink. Do not use it after the next write: if it is full, a write replaces it. */
  bytes: Buffer;
  /** A view of `bytes`. */
  view: DataView;
  /** Start of the current text. */
  start: number;
  /** Position of the next write. */
  end: number;
  /** Returns memory of at least this many bytes. */
  readonly allot: (size: number) => Buffer;
};

/** Large enough for many documents: bytes are rarely copied again, and whole slabs become garbage together. */
const SLAB_BYTES = 2 ** 20;
/** Maximum UTF-8 bytes of a UTF-16 unit. */
const BYTES_OF_UNIT = 3;

/** Creates an empty sink. `allot` returns memory of at least the requested size, with any content. */
export function createByteSink(allot: ByteSink['allot'] = Buffer.allocUnsafeSlow): ByteSink {
  const bytes = allot(SLAB_BYTES);
  return { bytes, view: viewOf(bytes), start: 0, end: 0, allot };
}

function viewOf({ buffer, byteOffset, byteLength }: Buffer): DataView {
  return new DataView(buffer, byteOffset, byteLength);
}

/** Ensures space for this many bytes after `end`. */
export function reserve(sink: ByteSink, size: number): void {
  if (sink.end + size <= sink.bytes.length) return;
  const made = sink.end - sink.start;
  const slab = sink.allot(Math.max(SLAB_BYTES, (made + size) * 2));
  sink.bytes.copy(slab, 0, sink.start, sink.end);
  sink.bytes = slab;
  sink.view = viewOf(slab);
  sink.start = 0;
  sink.end = made;
}

/** Writes a text as UTF-8. */
export function writeText(sink: ByteSink, text: string): void {
  reserve(sink, text.length * BYTES_OF_UNIT);
  sink.end += sink.bytes.write(text, sink.end);
}

/** Writes one ASCII character. */
export function putByte(sink: ByteSink, byte: number): void {
  reserve(sink, 1);
  sink.bytes[sink.end++] = byte;
}

/** Appends bytes. May replace the slab, so `sink.bytes` may be another buffer afterwards. */
export function putBytes(sink: ByteSink, part: Uint8Array): void {
  reserve(sink, part.length);
  sink.bytes.set(part, sink.end);
  sink.end += part.length;
}

/** Overwrites bytes from `at` on with an ASCII text. */
export function overwrite(sink: ByteSink, at: number, text: string): void {
  sink.bytes.write(text, sink.start + at, 'latin1');
}

/** Returns the bytes written since `start`. Use this number for positions: it stays valid when the slab is replaced. */
export function sizeOf(sink: ByteSink): number {
  return sink.end - sink.start;
}

/** Returns a view, not a copy, of the bytes written after the first `from`. */
export function writtenSince(sink: ByteSink, from: number): Buffer {
  return sink.bytes.subarray(sink.start + from, sink.end);
}

/** Returns the written bytes, which stay valid. The next text begins after them. */
export function takeWritten(sink: ByteSink): Buffer {
  const taken = sink.bytes.subarray(sink.start, sink.end);
  sink.start = sink.end;
  return taken;
}

/** Discards the bytes that were written and not taken. */
export function discardWritten(sink: ByteSink): void {
  sink.end = sink.start;
}
