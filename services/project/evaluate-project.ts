import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, realpathSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseEnv } from 'node:util';

/** Export of a project's module as JSON, or the reason why there is none. */
export type Evaluated =
  | { readonly kind: 'value'; readonly value: unknown }
  | { readonly kind: 'failed'; readonly reason: string };

export type EvaluateModule = (file: string) => Evaluated;

const TIME_LIMIT_MS = 5_000;
const MAX_BYTES = 4 * 1024 * 1024;
/** Path of evaluate-module next to this file, with the extension of this file: `.ts`, or `.js` after compilation. */
const PROGRAM = fileURLToPath(import.meta.url.replace(/evaluate-project(\.\w+)$/, 'evaluate-module$1'));

/** Returns the variables of the project's `.env`, with NODE_ENV of this process if it is set, else `development`. */
export function projectVariables(root: string): NodeJS.ProcessEnv & { readonly NODE_ENV: string } {
  const file = path.join(root, '.env');
  const own: NodeJS.ProcessEnv = existsSync(file) ? parseEnv(readFileSync(file, 'utf8')) : {};
  return { ...own, NODE_ENV: (process.env['NODE_ENV'] ?? own['NODE_ENV']) || 'development' };
}

/**
 * Evaluates modules of the project at `root`, which are foreign code. Each runs in a separate process, which is ended
 * after `timeLimitMs`. The process can read only the project. It starts with an empty environment: a variable such as NODE_OPTIONS or
 * LD_PRELOAD in the project's `.env` would run code without limits. The program sets NODE_ENV and these variables afterwards. JSON files
 * are parsed without a process.
 */
export function createEvaluateModule(root: string, timeLimitMs = TIME_LIMIT_MS): EvaluateModule {
  const folder = realpathSync(root);
  const env = projectVariables(folder);
  return (file) => {
    if (file.endsWith('.json')) return parsed(readFileSync(file, 'utf8'));
    const rights = [folder, path.dirname(PROGRAM)].map((readable) => `--allow-fs-read=${readable}`);
    // Node's type of these options lacks `detached`.
    const options = {
      cwd: folder,
      env: {},
      input: JSON.stringify(env),
      timeout: timeLimitMs,
      killSignal: 'SIGKILL',
      maxBuffer: MAX_BYTES,
      encoding: 'utf8',
      // A process group of its own: a signal to the group does not reach the server.
      detached: true,
    } as const;
    const program = ['--permission', ...rights, '--disable-warning=ExperimentalWarning', PROGRAM];
    const run = spawnSync(process.execPath, [...program, realpathSync(file), folder], options);
    if (run.error !== undefined) return failed(reasonOf(run.error, timeLimitMs));
    return run.status === 0 ? parsed(run.stdout) : failed(lastError(run.stderr));
  };
}

function reasonOf(error: NodeJS.ErrnoException, timeLimitMs: number): string {
  return error.code === 'ETIMEDOUT' ? `it takes longer than ${timeLimitMs} ms` : error.message;
}

function parsed(text: string): Evaluated {
  try {
    return { kind: 'value', value: JSON.parse(text) };
  } catch (error) {
    return failed((error as Error).message);
  }
}

function failed(reason: string): Evaluated {
  return { kind: 'failed', reason };
}

/** Returns the line of a stack trace that has the error. */
function lastError(stderr: string): string {
  const line = stderr.split('\n').find((text) => /^\w*Error(?: \[\w+\])?: /.test(text));
  return line ?? 'it ended with an error';
}
