import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { childrenOf, isRunning, processTree, workersOf } from './processes.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const SOURCES: readonly string[] = ['--min-semi-space-size=32', join(ROOT, 'services/cli/varve.ts')];
const BUNDLE = process.env['VARVE_TEST_PROGRAM'];
/** Arguments of Node with which the scripts in package.json start Varve. In a run of tests the program is a bundle (program-setup.ts). */
export const VARVE: readonly string[] = BUNDLE === undefined ? SOURCES : [...SOURCES.slice(0, -1), BUNDLE];
export const CONFORMANCE_SCHEMA = join(ROOT, 'test/conformance/schema');

export type ServerOptions = {
  /** Command of Varve. Default: serve. */
  readonly role?: 'serve' | 'project' | 'api';
  /** Folder of content types. Default: the conformance schema. */
  readonly contentTypes?: string;
  /** Data directory. Default: a new folder, which `dispose` removes. */
  readonly data?: string;
  readonly arguments?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** The `varve` program. Default: that of this checkout. */
  readonly program?: string;
};

/** Exit code or signal of a process, and its whole output. */
export type Exit = { readonly code: number | null; readonly signal: string | null; readonly output: string };

export type RunningServer = {
  readonly url: string;
  readonly data: string;
  /** Returns stdout and stderr so far. */
  output(): string;
  /** Sends the signal (default SIGTERM) and waits for the end. SIGKILL goes to the supervisor and its workers at once. */
  stop(signal?: NodeJS.Signals): Promise<Exit>;
  /** Pid of the process that was started. */
  readonly supervisor: number;
  /** Returns the pid of the serving worker, or undefined while there is none. */
  worker(): number | undefined;
  /** Resolves when the process has ended, by itself or not. */
  readonly exited: Promise<Exit>;
  /** Stops or continues its processes. */
  signal(signal: 'SIGSTOP' | 'SIGCONT'): void;
  /** Stops the server if it runs, and removes its data directory if it was created for it. */
  dispose(): Promise<void>;
};

export type VarveProcess = {
  readonly child: ChildProcess;
  readonly exited: Promise<Exit>;
  output(): string;
};

/** Runs `varve` with these arguments. It does not get the VARVE_… variables of the test run itself. */
export function spawnVarve(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  program?: string,
): VarveProcess {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('VARVE_'));
  const run = program === undefined ? programFor(env) : [program];
  const child = spawn(process.execPath, [...run, ...args], {
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

/** Returns the arguments of Node for Varve. A module of the test that changes one of Varve's needs the program as it is written. */
function programFor({ NODE_OPTIONS = '' }: Readonly<Record<string, string>>): readonly string[] {
  return NODE_OPTIONS.includes('--import') ? SOURCES : VARVE;
}

/**
 * Starts a server process on a free port. Resolves when it serves. Rejects with its output if it ends instead.
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
  // Processes that the worker started are omitted: a rebuild outlives the server.
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
      // A process that the worker started may write to the data directory for a moment longer.
      const started = processTree(supervisor);
      await stop('SIGKILL');
      for (const pid of started) send(pid, 'SIGKILL');
      while (started.some(isRunning)) await delay(2);
      if (options.data === undefined) rmSync(data, { recursive: true, force: true });
    },
  };
}

/** Sends a signal. Ignores that the process may have ended. */
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

/** Resolves to the address in the start-up message, which appears when the server serves. */
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
