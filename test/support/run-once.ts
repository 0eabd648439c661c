import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/**
 * Script that runs a command once for several processes. If it fails, the others get its output and do not try again.
 */
const SCRIPT = `
  failure=$1; shift
  if [ -s "$failure" ]; then cat "$failure" >&2; exit 1; fi
  "$@" 2> "$failure.part" && exit
  [ -s "$failure.part" ] || echo "$1 failed without a word" > "$failure.part"
  mv "$failure.part" "$failure"; cat "$failure" >&2; exit 1`;

/** Runs a command under the lock `<name>.lock`. Rejects with the last line that it wrote to stderr. */
export async function runOnce(
  name: string,
  command: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): Promise<void> {
  const args = [`${name}.lock`, 'bash', '-c', SCRIPT, 'run-once', `${name}.failure`, ...command];
  try {
    await promisify(execFile)('flock', args, { env: { ...env } });
  } catch (error) {
    throw new Error(lastLine(error as NodeJS.ErrnoException & { stderr?: string }), { cause: error });
  }
}

function lastLine({ code, stderr = '', message }: NodeJS.ErrnoException & { stderr?: string }): string {
  if (code === 'ENOENT') return 'flock is not installed';
  return stderr.trimEnd().split('\n').at(-1) || message;
}
