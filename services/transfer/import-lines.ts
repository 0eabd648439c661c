import { closeSync, createReadStream, openSync, readFileSync, readSync, statSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { MOST_JSON_LEVELS, nestsDeeper } from '../../shared/json-depth.ts';

/** Line of an import file that is not empty, or the reasons why it is refused before it is a line. */
export type ImportSource = {
  readonly file: string;
  /** Number of the line, or of the item of an array; the first is 1. */
  readonly number: number;
  /** Bytes of the line in the file, with its line end. */
  readonly bytes: number;
} & ({ readonly text: string } | { readonly reasons: readonly string[] });

/** Reads the lines of a file without their line ends, and without reading the whole file into memory. */
export async function* linesOf(file: string): AsyncGenerator<string> {
  // The reader drops lines that arrive before something iterates over it, so it is made when the first line is wanted.
  yield* createInterface({ input: createReadStream(file), crlfDelay: Number.POSITIVE_INFINITY });
}

/** Reads the lines of a file that are not empty, or the items of a file with a JSON array. */
export async function* importLines(file: string): AsyncGenerator<ImportSource> {
  if (isJsonArray(file)) yield* arrayItems(file);
  else yield* fileLines(file);
}

async function* fileLines(file: string): AsyncGenerator<ImportSource> {
  let number = 0;
  for await (const text of linesOf(file)) {
    number++;
    if (text.trim() !== '') yield { file, number, bytes: Buffer.byteLength(text) + 1, text };
  }
}

/** Bytes at the start of a file among which its first character is. */
const HEAD = 256;

/** Returns whether a file has a JSON array. No line is one, because each is an object. */
export function isJsonArray(file: string): boolean {
  const head = Buffer.alloc(HEAD);
  const descriptor = openSync(file, 'r');
  try {
    const length = readSync(descriptor, head);
    return new TextDecoder().decode(head.subarray(0, length)).trimStart().startsWith('[');
  } finally {
    closeSync(descriptor);
  }
}

const TOO_DEEP = `it nests deeper than ${MOST_JSON_LEVELS} levels`;

/** An array is read whole. */
const MAX_ARRAY = 256 * 1024 * 1024;

function* arrayItems(file: string): Generator<ImportSource> {
  const { size } = statSync(file);
  if (size > MAX_ARRAY)
    throw new Error(`${file} is an array of more than ${MAX_ARRAY} bytes: write one document a line`);
  const items = parsedArray(file);
  for (const [at, item] of items.entries()) {
    const bytes = Math.floor((size * (at + 1)) / items.length) - Math.floor((size * at) / items.length);
    const place = { file, number: at + 1, bytes };
    // JSON.stringify would exhaust the stack.
    if (nestsDeeper(item, MOST_JSON_LEVELS)) yield { ...place, reasons: [TOO_DEEP] };
    else yield { ...place, text: JSON.stringify(item) };
  }
}

function parsedArray(file: string): readonly unknown[] {
  try {
    // JSON.parse refuses a byte order mark, and TextDecoder omits it.
    return JSON.parse(new TextDecoder().decode(readFileSync(file)));
  } catch (error) {
    throw new Error(`${file} is not a JSON array: ${(error as Error).message}`, { cause: error });
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
