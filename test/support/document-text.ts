import type { Neighbours } from '../../shared/read-index/document-index.ts';
import {
  createByteSink,
  discardWritten,
  writtenSince,
} from '../../shared/read-index/elasticsearch/documents/byte-sink.ts';
import { writeDocument } from '../../shared/read-index/elasticsearch/documents/create-document.ts';
import type { DocumentLayout } from '../../shared/read-index/elasticsearch/layout/document-layout.ts';
import type { IndexedRow } from '../../shared/read-index/read-index.ts';

/** Sink that all documents share. A separate sink for each document would be a megabyte of garbage. */
const sink = createByteSink();

/** Returns the JSON of a row's document. */
export function documentText(
  layout: DocumentLayout,
  key: number,
  row: IndexedRow,
  neighbours: Neighbours,
): string {
  discardWritten(sink);
  writeDocument(sink, layout, { key, row }, neighbours);
  return String(writtenSince(sink, 0));
}
