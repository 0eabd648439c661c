import { execFile } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { createBounded } from '../../../shared/bounded.ts';
import type { ResizeAnswer, Resized, ResizeRequest } from './resize-picture.ts';

/** A smaller picture as a file, which is there while its user works. */
export type ResizedFile = Resized & { readonly file: string };

export type ResizeOutcome =
  | { readonly kind: 'made'; readonly formats: readonly ResizedFile[] }
  | Exclude<ResizeAnswer, { readonly kind: 'made' }>
  /** The process ended, or took too long: nothing is known about the picture. */
  | { readonly kind: 'failed'; readonly reason: string };

export type PictureResizer = {
  /** Makes the formats of a picture and passes them on. The files are removed when this resolves. */
  resize<Result>(
    content: AsyncIterable<Uint8Array>,
    use: (outcome: ResizeOutcome) => Promise<Result>,
  ): Promise<Result>;
};

export type PictureResizerOptions = {
  /** Pixels of all frames of a picture. */
  readonly maxPixels: number;
  readonly timeLimitMs?: number;
  /** Called with the request in JSON. */
  readonly program?: string;
};

const AT_ONCE = 2;
const TIME_LIMIT_MS = 60_000;
const MAX_ANSWER_BYTES = 100_000;
/** The neighbouring file, compiled or not. */
const PROGRAM = fileURLToPath(import.meta.url.replace(/picture-resizer(\.\w+)$/, 'resize-program$1'));

/**
 * Resizes pictures, each in a separate process. So the event loop continues, a picture that crashes the decoder ends nothing else, and the
 * process has no secrets. Two pictures are resized at the same time.
 */
export function createPictureResizer(options: PictureResizerOptions): PictureResizer {
  const bounded = createBounded(AT_ONCE);
  return {
    resize: (content, use) =>
      bounded(async () => {
        const folder = await mkdtemp(join(tmpdir(), 'varve-picture-'));
        try {
          return await use(await resizeIn(folder, options, content));
        } finally {
          await rm(folder, { recursive: true, force: true });
        }
      }),
  };
}

async function resizeIn(
  folder: string,
  options: PictureResizerOptions,
  content: AsyncIterable<Uint8Array>,
): Promise<ResizeOutcome> {
  const [picture, target] = [join(folder, 'picture'), join(folder, 'formats')];
  try {
    await pipeline(content, createWriteStream(picture, { mode: 0o600 }));
    await mkdir(target);
  } catch (error) {
    return { kind: 'failed', reason: (error as Error).message };
  }
  return run(options, { picture, target, maxPixels: options.maxPixels });
}

function run(options: PictureResizerOptions, request: ResizeRequest): Promise<ResizeOutcome> {
  const { program = PROGRAM, timeLimitMs = TIME_LIMIT_MS } = options;
  const { NODE_COMPILE_CACHE } = process.env;
  const env = NODE_COMPILE_CACHE === undefined ? {} : { NODE_COMPILE_CACHE };
  const limits = { timeout: timeLimitMs, killSignal: 'SIGKILL', maxBuffer: MAX_ANSWER_BYTES } as const;
  const { promise, resolve } = Promise.withResolvers<ResizeOutcome>();
  execFile(
    process.execPath,
    [program, JSON.stringify(request)],
    { ...limits, env, cwd: request.target },
    (error, stdout, stderr) => {
      if (error === null) return resolve(outcomeOf(JSON.parse(stdout) as ResizeAnswer, request.target));
      const ended = killedFor(error, timeLimitMs) ?? lastLine(stderr);
      resolve({ kind: 'failed', reason: ended ?? error.signal ?? 'it ended with an error' });
    },
  );
  return promise;
}

/** Returns the reason why Node killed the program; undefined if it ended by itself. */
function killedFor(
  { code, killed }: { readonly code?: string | number | null; readonly killed?: boolean },
  timeLimitMs: number,
): string | undefined {
  if (code === 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER') return `it answered more than ${MAX_ANSWER_BYTES} bytes`;
  return killed === true ? `it took longer than ${timeLimitMs} ms` : undefined;
}

function outcomeOf(answer: ResizeAnswer, target: string): ResizeOutcome {
  if (answer.kind !== 'made') return answer;
  return {
    kind: 'made',
    formats: answer.formats.map((resized) => ({ ...resized, file: join(target, resized.format) })),
  };
}

/** Returns the line of a stack trace that has the error. */
function lastLine(stderr: string): string | undefined {
  return stderr.split('\n').find((line) => /^\w*Error(?: \[\w+\])?: /.test(line));
}
