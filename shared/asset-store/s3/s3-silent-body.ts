import { finished, Readable } from 'node:stream';

/**
 * Passes on the body of an answer. It fails with `silent` if no data arrives for `silenceMs` while the reader waits for more. A slow reader
 * may take any time.
 */
export function untilSilent(body: Readable, silenceMs: number, silent: () => unknown): Readable {
  let timer: NodeJS.Timeout | undefined;
  const disarm = (): void => {
    clearTimeout(timer);
    timer = undefined;
  };
  const content = new Readable({
    read() {
      timer ??= setTimeout(() => content.destroy(silent() as Error), silenceMs);
      body.resume();
    },
    destroy(error, done) {
      disarm();
      body.destroy();
      done(error);
    },
  });
  // Without a listener an error would end the process, and possibly nobody reads the answer.
  content.on('error', () => {});
  body.on('data', (chunk: Uint8Array) => {
    disarm();
    if (!content.push(chunk)) body.pause();
  });
  finished(body, (error) => {
    disarm();
    if (error) content.destroy(error);
    else content.push(null);
  });
  return content;
}
