import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { childrenOf, workersOf } from './processes.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** Arguments of Node with which the scripts in package.json start Varve. */
export const VARVE: readonly string[] = ['--min-semi-space-size=32', join(ROOT, 'services/cli/varve.ts')];
export const CONFORMANCE_SCHEMA = join(ROOT, 'test/conformance/schema');

export type ServerOptions = {
  /** Default: serve. */
  readonly role?: 'serve' | 'project' | 'api';
  /** Default: the conformance schema. */
  readonly contentTypes?: string;
  /** Default: a new folder, removed with `dispose`. */
  readonly data?: string;
  readonly arguments?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Default: that of this checkout. */
  readonly program?: string;
};

/** Exit code or signal of a process, and its whole output. */
export type Exit = { readonly code: number | null; readonly signal: string | null; readonly output: string };

export type RunningServer = {
  readonly url: string;
  readonly data: string;
  /** stdout and stderr so far. */
  output(): string;
  /** Sends the signal (default SIGTERM) and waits for the end. SIGKILL ends its supervisor and its worker at once. */
  stop(signal?: NodeJS.Signals): Promise<Exit>;
  /** The process that was started: of `varve api` the one that serves. */
  readonly supervisor: number;
  /** The process that serves below it; undefined while there is none. */
  worker(): number | undefined;
  /** Resolves when it has ended, by itself or not. */
  readonly exited: Promise<Exit>;
  /** Sends its processes a signal that does not end them. */
  signal(signal: 'SIGSTOP' | 'SIGCONT'): void;
  /** Stops it if it runs, and removes the data directory if it was made for it. */
  dispose(): Promise<void>;
};

export type VarveProcess = {
  readonly child: ChildProcess;
  readonly exited: Promise<Exit>;
  output(): string;
};

/** Runs `varve` with these arguments; VARVE_… variables of the test run itself are not passed on. */
export function spawnVarve(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  program?: string,
): VarveProcess {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('VARVE_'));
  const child = spawn(process.execPath, [...(program === undefined ? VARVE : [program]), ...args], {
    cwd: ROOT,
    env: { ...Object.fromEntries(inherited), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  const exited = once(child, 'close').then(([code, signal]) => ({
    code: code as number | null,
    signal: signal as string | null,
    output,
  }));
  return { child, exited, output: () => output };
}

/**
 * A server process of its own on a free port; resolves when it serves. Rejects with its output when it ends instead.
 */
export async function startServer(options: ServerOptions = {}): Promise<RunningServer> {
  const data = options.data ?? createDataDirectory();
  const varve = spawnVarve(
    [
      options.role ?? 'serve',
      ...['--content-types', options.contentTypes ?? CONFORMANCE_SCHEMA],
      ...['--data', data, '--port', '0'],
      ...(options.arguments ?? []),
    ],
    options.env,
    options.program,
  );
  const supervisor = varve.child.pid ?? 0;
  // Not what the worker has started: a rebuild outlives the server.
  const processes = () => [supervisor, ...childrenOf(supervisor)];
  const url = await servedUrl(varve);
  const stop = async (signal: NodeJS.Signals = 'SIGTERM') => {
    for (const pid of signal === 'SIGKILL' ? processes() : [supervisor]) send(pid, signal);
    return varve.exited;
  };
  return {
    url,
    data,
    output: varve.output,
    stop,
    supervisor,
    worker: () => workersOf(supervisor)[0],
    exited: varve.exited,
    signal(signal) {
      for (const pid of processes()) send(pid, signal);
    },
    async dispose() {
      await stop('SIGKILL');
      if (options.data === undefined) rmSync(data, { recursive: true, force: true });
    },
  };
}

/** The process may have ended. */
function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

export function createDataDirectory(): string {
  return mkdtempSync(join(tmpdir(), 'varve-test-'));
}

/** The start-up message appears when the server serves and names its address. */
async function servedUrl(varve: VarveProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    const look = () => {
      const url = /^Varve serves .* at (http:\S+)$/m.exec(varve.output())?.[1];
      if (url !== undefined) resolve(url);
    };
    varve.child.stdout?.on('data', look);
    varve.exited.then((exit) =>
      reject(new Error(`varve ended with ${exit.code ?? exit.signal}:\n${exit.output}`)),
    );
  });
}
