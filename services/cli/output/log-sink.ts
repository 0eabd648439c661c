import { writeSync } from 'node:fs';

/** Destination of log lines. Writing never throws and never waits. */
export type LogSink = { write(line: string): void };

export type LogSinkOptions = {
  /** Maximum number of bytes that are buffered for a slow reader. Further lines are dropped. */
  readonly keep?: number;
  readonly retryMs?: number;
};

/**
 * Writes lines to a file descriptor at once. Buffers lines for a pipe that is full. Drops lines that cannot be written (closed, a full
 * disk): a failing log must not stop the server.
 */
export function createLogSink(
  fd: number,
  { keep = 1024 * 1024, retryMs = 100 }: LogSinkOptions = {},
): LogSink {
  let kept = Buffer.alloc(0);
  let timer: NodeJS.Timeout | undefined;

  function writeKept(): void {
    while (kept.length > 0) {
      const written = tryToWrite(fd, kept);
      if (written === 'later') return;
      kept = written === 'never' ? Buffer.alloc(0) : kept.subarray(written);
    }
    clearInterval(timer);
    timer = undefined;
  }

  process.on('exit', writeKept);
  return {
    write(line) {
      if (kept.length > keep) return;
      kept = kept.length === 0 ? Buffer.from(line) : Buffer.concat([kept, Buffer.from(line)]);
      if (timer !== undefined) return;
      writeKept();
      if (kept.length > 0) timer = setInterval(writeKept, retryMs).unref();
    },
  };
}

function tryToWrite(fd: number, bytes: Uint8Array): number | 'later' | 'never' {
  try {
    return writeSync(fd, bytes);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EAGAIN' ? 'later' : 'never';
  }
}
