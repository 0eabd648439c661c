import { entryOfSource } from '../../shared/read-index/entry-of-source.ts';

/** Values of a row as its answer has them, by attribute. */
export type SourceValues = Readonly<Record<string, unknown>>;

/** Parses the source of a row: its public scalars and system attributes, without relations. */
export function readSource(source: Uint8Array): SourceValues {
  return entryOfSource<SourceValues>(source);
}

const DOCUMENT_ID = ',"documentId":"';
/** Number of bytes that contain the first two members of a source, which are short. */
const HEAD_BYTES = 120;

/** Returns the documentId of a content type's row, usually without parsing the whole row. */
export function documentIdOf(source: Uint8Array): string {
  const head = textOf(source.subarray(0, HEAD_BYTES));
  const comma = head.indexOf(',');
  const start = comma + DOCUMENT_ID.length;
  const end = head.indexOf('"', start);
  const isPlain = head.startsWith(DOCUMENT_ID, comma) && end > 0 && !head.slice(start, end).includes('\\');
  return isPlain ? head.slice(start, end) : String(readSource(source)['documentId']);
}

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString();
}
