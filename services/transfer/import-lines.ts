import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';

/** Line of an import file that is not empty. */
export type ImportSource = {
  readonly file: string;
  /** Number of the line; the first is 1. */
  readonly number: number;
  /** Bytes of the line in the file, with its line end. */
  readonly bytes: number;
  readonly text: string;
};

/** Reads the lines of all files, one file after the other, without holding a file in memory. */
export async function* importLines(files: readonly string[]): AsyncGenerator<ImportSource> {
  for (const file of files) {
    const lines = createInterface({ input: createReadStream(file), crlfDelay: Number.POSITIVE_INFINITY });
    let number = 0;
    for await (const text of lines) {
      number++;
      if (text.trim() !== '') yield { file, number, bytes: Buffer.byteLength(text) + 1, text };
    }
  }
}

/** Groups the items of `source` into lists of at most `size` items. */
export async function* inBatches<Item>(
  source: AsyncIterable<Item>,
  size: number,
): AsyncGenerator<readonly Item[]> {
  let batch: Item[] = [];
  for await (const item of source) {
    batch.push(item);
    if (batch.length < size) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}
