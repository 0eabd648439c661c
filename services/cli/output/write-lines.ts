import { Readable, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

/** Bytes that are written at once. */
const AT_ONCE = 64 * 1024;

/**
 * Writes lines, several at once if more are ready. A reader that closes the pipe (`| head`) ends the writing without an error. stdout and
 * stderr stay open.
 */
export async function writeLines(to: Writable, lines: AsyncIterable<string>): Promise<void> {
  const isOwn = to !== process.stdout && to !== process.stderr;
  try {
    await pipeline(Readable.from(chunksOf(lines), { objectMode: false, highWaterMark: AT_ONCE }), to, {
      end: isOwn,
    });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPIPE') throw error;
  }
}

async function* chunksOf(lines: AsyncIterable<string>): AsyncGenerator<string> {
  for await (const line of lines) yield `${line}\n`;
}
