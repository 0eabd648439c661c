/**
 * UTF-8 in the making. Documents are put together from parts that many of them share: as bytes each is copied once, as strings
 * (which are UTF-16 here) again at every level, and encoded at the end.
 */
export type ByteSink = {
  /** Not to be held beyond the next write: it is replaced when it is full. */
  bytes: Buffer;
  /** The same bytes. */
  view: DataView;
  /** Where what is being made begins. */
  start: number;
  /** Where the next write goes. */
  end: number;
  /** Gives memory of at least so many bytes. */
  readonly allot: (size: number) => Buffer;
};

/** Many documents fit in: what is made is not copied once more, and whole slabs become garbage together. */
const SLAB_BYTES = 2 ** 20;
/** UTF-8 bytes of a UTF-16 unit, at most. */
const BYTES_OF_UNIT = 3;

export function createByteSink(allot: ByteSink['allot'] = Buffer.allocUnsafeSlow): ByteSink {
  const bytes = allot(SLAB_BYTES);
  return { bytes, view: viewOf(bytes), start: 0, end: 0, allot };
}

function viewOf({ buffer, byteOffset, byteLength }: Buffer): DataView {
  return new DataView(buffer, byteOffset, byteLength);
}

/** Makes room for so many bytes behind `end`. */
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

export function writeText(sink: ByteSink, text: string): void {
  reserve(sink, text.length * BYTES_OF_UNIT);
  sink.end += sink.bytes.write(text, sink.end);
}

/** One ASCII character. */
export function writeByte(sink: ByteSink, byte: number): void {
  reserve(sink, 1);
  sink.bytes[sink.end++] = byte;
}

export function writeBytes(sink: ByteSink, part: Uint8Array): void {
  reserve(sink, part.length);
  sink.bytes.set(part, sink.end);
  sink.end += part.length;
}

/** Writes ASCII over what stands behind the first `at` bytes. */
export function overwrite(sink: ByteSink, at: number, text: string): void {
  sink.bytes.write(text, sink.start + at, 'latin1');
}

/** Bytes written since `start`. Places are told by it: they hold when the slab is replaced. */
export function sizeOf(sink: ByteSink): number {
  return sink.end - sink.start;
}

/** What was written behind the first `from` bytes; not a copy. */
export function writtenSince(sink: ByteSink, from: number): Buffer {
  return sink.bytes.subarray(sink.start + from, sink.end);
}

/** What was written, and no more of it: the next begins behind. It keeps its bytes. */
export function takeWritten(sink: ByteSink): Buffer {
  const taken = sink.bytes.subarray(sink.start, sink.end);
  sink.start = sink.end;
  return taken;
}

/** Lets go of what was written and not taken. */
export function discardWritten(sink: ByteSink): void {
  sink.end = sink.start;
}
