import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, realpathSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseEnv } from 'node:util';

/** Export of a module of a project, as JSON; or the reason why there is none. */
export type Evaluated =
  | { readonly kind: 'value'; readonly value: unknown }
  | { readonly kind: 'failed'; readonly reason: string };

export type EvaluateModule = (file: string) => Evaluated;

const TIME_LIMIT_MS = 5_000;
const MAX_BYTES = 4 * 1024 * 1024;
/** The neighbouring file, compiled or not. */
const PROGRAM = fileURLToPath(import.meta.url.replace(/evaluate-project(\.\w+)$/, 'evaluate-module$1'));

/** Variables of the project's `.env`, and NODE_ENV: this process's own, if it has one. Strapi's default is `development`. */
export function projectVariables(root: string): NodeJS.ProcessEnv & { readonly NODE_ENV: string } {
  const file = path.join(root, '.env');
  const own: NodeJS.ProcessEnv = existsSync(file) ? parseEnv(readFileSync(file, 'utf8')) : {};
  return { ...own, NODE_ENV: (process.env['NODE_ENV'] ?? own['NODE_ENV']) || 'development' };
}

/**
 * Evaluates modules of the project at `root`, which are foreign code. Each runs in a separate process that can read the
 * project and nothing else, has only the variables of the project's `.env` and NODE_ENV, and is ended after `timeLimitMs`. JSON
 * files are read.
 */
export function createEvaluateModule(root: string, timeLimitMs = TIME_LIMIT_MS): EvaluateModule {
  const folder = realpathSync(root);
  const env = projectVariables(folder);
  return (file) => {
    if (file.endsWith('.json')) return parsed(readFileSync(file, 'utf8'));
    const rights = [folder, path.dirname(PROGRAM)].map((readable) => `--allow-fs-read=${readable}`);
    const run = spawnSync(
      process.execPath,
      ['--permission', ...rights, '--disable-warning=ExperimentalWarning', PROGRAM, realpathSync(file)],
      {
        cwd: folder,
        env,
        timeout: timeLimitMs,
        killSignal: 'SIGKILL',
        maxBuffer: MAX_BYTES,
        encoding: 'utf8',
      },
    );
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

/** Line of a stack with the error. */
function lastError(stderr: string): string {
  const line = stderr.split('\n').find((text) => /^\w*Error(?: \[\w+\])?: /.test(text));
  return line ?? 'it ended with an error';
}
