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

/** Reads the lines of a file without their line ends, and without reading the whole file into memory. */
export async function* linesOf(file: string): AsyncGenerator<string> {
  // The reader drops lines that arrive before something iterates over it, so it is made when the first line is wanted.
  yield* createInterface({ input: createReadStream(file), crlfDelay: Number.POSITIVE_INFINITY });
}

/** Reads the lines of all files that are not empty, one file after the other. */
export async function* importLines(files: readonly string[]): AsyncGenerator<ImportSource> {
  for (const file of files) {
    let number = 0;
    for await (const text of linesOf(file)) {
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
