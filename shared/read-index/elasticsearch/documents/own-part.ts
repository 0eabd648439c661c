import type { IndexedRow } from '../../read-index.ts';
import type { DocumentLayout } from '../layout/document-layout.ts';
import { type ByteSink, putBytes, sizeOf } from './byte-sink.ts';

/** Start and end in the text, as `sizeOf` returns them. */
type Span = { readonly from: number; readonly to: number };

/**
 * Part of a document that depends only on its row. A row in both worlds has the same part in both documents. They are usually made one
 * after the other, so the second copies it from the first.
 */
export type OwnPart = {
  readonly head: Buffer;
  readonly texts: Buffer;
  /** Input of the document's digest, and the digest. Both are usually the same in both worlds. */
  readonly summed: Buffer;
  readonly sum: string;
};

/** Positions of these parts in a text. */
type OwnSpans = { readonly [part in 'head' | 'texts' | 'summed']: Span } & Pick<OwnPart, 'sum'>;

/** Own part of the last document. Its spans are positions in the slab. */
type Standing = OwnSpans & {
  readonly layout: DocumentLayout;
  readonly row: IndexedRow;
  readonly slab: Buffer;
};

const lastWritten = new WeakMap<ByteSink, Standing>();

/** Returns the own part of the last document, if it was of this row and its bytes are still in place. */
export function cachedOwnPart(sink: ByteSink, layout: DocumentLayout, row: IndexedRow): OwnPart | undefined {
  const last = lastWritten.get(sink);
  if (last === undefined || last.row !== row || last.layout !== layout) return undefined;
  const { slab, head, texts, summed, sum } = last;
  // Text that was discarded is being overwritten.
  if (slab !== sink.bytes || sink.start < texts.to) return undefined;
  const part = ({ from, to }: Span) => slab.subarray(from, to);
  return { head: part(head), texts: part(texts), summed: part(summed), sum };
}

/** Stores the own part of the document that ends here. */
export function cacheOwnPart(
  sink: ByteSink,
  layout: DocumentLayout,
  row: IndexedRow,
  { head, texts, summed, sum }: OwnSpans,
): void {
  const inSlab = ({ from, to }: Span): Span => ({ from: sink.start + from, to: sink.start + to });
  const spans = { head: inSlab(head), texts: inSlab(texts), summed: inSlab(summed), sum };
  lastWritten.set(sink, { layout, row, slab: sink.bytes, ...spans });
}

/** Copies a known part, or calls `write`. Returns the span of the part. */
export function writeOrCopy(sink: ByteSink, known: Uint8Array | undefined, write: () => void): Span {
  const from = sizeOf(sink);
  if (known === undefined) write();
  else putBytes(sink, known);
  return { from, to: sizeOf(sink) };
}
