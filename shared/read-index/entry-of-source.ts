/** An entry as an index shows it, with its own values only. */
export type SourceEntry = {
  readonly documentId: string;
  readonly locale?: string | null;
  readonly [attribute: string]: unknown;
};

/** Returns the entry of a source, which is JSON in UTF-8. It does not copy the bytes. */
export function entryOfSource<Row = SourceEntry>({ buffer, byteOffset, byteLength }: Uint8Array): Row {
  return JSON.parse(Buffer.from(buffer, byteOffset, byteLength).toString()) as Row;
}
