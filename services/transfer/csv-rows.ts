import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream';
import { type CsvError, parse } from 'csv-parse';

/** Row of a CSV file with at least one cell that is not empty. */
export type CsvRow = {
  /** Number of the line in which the row begins; the first is 1. */
  readonly line: number;
  /** Bytes of the row in the file, with its line end. */
  readonly bytes: number;
  readonly cells: readonly string[];
};

/** Bytes of a row. A quote that is not closed makes one row of the rest of the file. */
const MAX_ROW = 16 * 1024 * 1024;

const NOT_QUOTED = 'the row has a quote inside a cell: write the cell in quotes, and each quote in it twice';
const PROBLEMS: { readonly [code: string]: string } = {
  INVALID_OPENING_QUOTE: NOT_QUOTED,
  CSV_INVALID_CLOSING_QUOTE: NOT_QUOTED,
  CSV_QUOTE_NOT_CLOSED: 'the row has a quote that is not closed',
  CSV_MAX_RECORD_SIZE: `the row has more than ${MAX_ROW} bytes, or a quote that is not closed`,
};

/**
 * Yields the rows of a CSV file (RFC 4180): comma, double quotes, any line end, UTF-8 with or without byte order mark. Throws a message that
 * names the line where the file is not CSV.
 */
export async function* csvRows(file: string): AsyncGenerator<CsvRow> {
  let line = 1;
  let before = 0;
  const parser = parse({
    relax_column_count: true,
    record_delimiter: ['\r\n', '\n', '\r'],
    max_record_size: MAX_ROW,
    // The parser counts some line ends in cells twice. Its types expect cells, and it yields any object.
    on_record(cells, { bytes }) {
      const row: CsvRow = { line, bytes: bytes - before, cells };
      line += 1 + cells.reduce((sum, cell) => sum + (cell.match(LINE_END)?.length ?? 0), 0);
      before = bytes;
      return cells.some((cell) => cell !== '') ? (row as unknown as string[]) : null;
    },
  });
  // The iterator below throws the error.
  pipeline(textOf(file), parser, () => {});
  try {
    yield* parser as AsyncIterable<CsvRow>;
  } catch (error) {
    const problem = PROBLEMS[(error as CsvError).code];
    throw problem === undefined ? error : new Error(`${file}:${line}: ${problem}`, { cause: error });
  }
}

const LINE_END = /\r\n|\n|\r/g;

/** Throws a message for another encoding: it would lose letters in silence. */
async function* textOf(file: string): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  try {
    for await (const chunk of createReadStream(file) as AsyncIterable<Buffer>)
      yield decoder.decode(chunk, { stream: true });
    yield decoder.decode();
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new Error(`${file} is not UTF-8: save it as CSV in UTF-8`, { cause: error });
  }
}
