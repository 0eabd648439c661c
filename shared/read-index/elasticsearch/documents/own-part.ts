import type { IndexedRow } from '../../read-index.ts';
import type { DocumentLayout } from '../layout/document-layout.ts';
import { type ByteSink, sizeOf, writeBytes } from './byte-sink.ts';

/** Places in what is being written, as `sizeOf` tells them. */
type Span = { readonly from: number; readonly to: number };

/**
 * What of a document follows from its row alone. A row of both worlds has it in both documents, mostly one made after the
 * other: the second copies it from where the first stands.
 */
export type OwnPart = {
  readonly head: Buffer;
  readonly texts: Buffer;
  /** What the document's digest is of, and that: mostly both worlds show the same. */
  readonly summed: Buffer;
  readonly sum: string;
};

/** Where these are. */
type OwnSpans = { readonly [part in 'head' | 'texts' | 'summed']: Span } & Pick<OwnPart, 'sum'>;

/** Its spans are places in the slab. */
type Standing = OwnSpans & {
  readonly layout: DocumentLayout;
  readonly row: IndexedRow;
  readonly slab: Buffer;
};

const lastWritten = new WeakMap<ByteSink, Standing>();

/** Of the document written last, if it was of this row and stands where it did. */
export function knownOwnPart(sink: ByteSink, layout: DocumentLayout, row: IndexedRow): OwnPart | undefined {
  const last = lastWritten.get(sink);
  if (last === undefined || last.row !== row || last.layout !== layout) return undefined;
  const { slab, head, texts, summed, sum } = last;
  // What was discarded instead of taken is being written over.
  if (slab !== sink.bytes || sink.start < texts.to) return undefined;
  const part = ({ from, to }: Span) => slab.subarray(from, to);
  return { head: part(head), texts: part(texts), summed: part(summed), sum };
}

/** Of the document that ends here. */
export function noteOwnPart(
  sink: ByteSink,
  layout: DocumentLayout,
  row: IndexedRow,
  { head, texts, summed, sum }: OwnSpans,
): void {
  const inSlab = ({ from, to }: Span): Span => ({ from: sink.start + from, to: sink.start + to });
  const spans = { head: inSlab(head), texts: inSlab(texts), summed: inSlab(summed), sum };
  lastWritten.set(sink, { layout, row, slab: sink.bytes, ...spans });
}

/** Writes a part that is known, or has it written; answers where it stands. */
export function writeOrCopy(sink: ByteSink, known: Uint8Array | undefined, write: () => void): Span {
  const from = sizeOf(sink);
  if (known === undefined) write();
  else writeBytes(sink, known);
  return { from, to: sizeOf(sink) };
}
