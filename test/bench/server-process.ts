import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { processTree } from '../support/processes.ts';

export type ServerProcess = {
  readonly base: string;
  stop(): Promise<void>;
  /** Resident memory of all its processes. */
  residentMiB(): number;
  /** Seconds of a core that its processes have used since their start. */
  cpuSeconds(): number;
};

/** Starts a node process that prints its base URL, and waits until `path` there answers 2xx. */
export async function startProcess(
  args: readonly string[],
  cwd: string,
  path: string,
): Promise<ServerProcess> {
  const child = spawn(process.execPath, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'] });
  // The server must end with this process.
  const end = () => void child.kill('SIGKILL');
  process.once('exit', end);
  child.once('exit', () => process.off('exit', end));
  const base = await printedUrl(child, args);
  await untilReady(base + path);
  return {
    base,
    stop: async () => {
      child.kill('SIGTERM');
      await once(child, 'exit');
    },
    residentMiB: () => sum(processTree(child.pid ?? 0).map(residentMiB)),
    cpuSeconds: () => sum(processTree(child.pid ?? 0).map(cpuSeconds)),
  };
}

/** Returns the first address that the process prints and that is neither an argument, such as the URL of Elasticsearch, nor in a line of the log. */
function printedUrl(child: ChildProcess, args: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    let output = '';
    const read = (chunk: Buffer) => {
      output += chunk;
      const lines = output.replaceAll(/^\{.*$/gm, '');
      const printed = lines.match(/http:\/\/127\.0\.0\.1:\d+(?=\D)/g) ?? [];
      const url = printed.find((each) => !args.some((arg) => arg.startsWith(each)));
      if (url !== undefined) resolve(url);
    };
    child.stdout?.on('data', read);
    child.stderr?.on('data', read);
    child.once('exit', (code) => reject(new Error(`exited with ${code} before it listened:\n${output}`)));
  });
}

async function untilReady(url: string): Promise<void> {
  for (;;) {
    const ok = await fetch(url).then(
      (answer) => answer.ok,
      () => false,
    );
    if (ok) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((all, each) => all + each, 0);
}

function residentMiB(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? Number.NaN) / 1024;
}

/** Returns the CPU seconds of all threads of a process. The kernel counts in hundredths of a second. */
export function cpuSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ');
  return (Number(fields[11]) + Number(fields[12])) / 100;
}
