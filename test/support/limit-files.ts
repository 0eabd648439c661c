import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';

/** Limits the files of a process to those that it has open and `more`. It can be called again with a larger number. */
export function limitFiles(pid: number, more: number): void {
  const most = readdirSync(`/proc/${pid}/fd`).length + more;
  execFileSync('prlimit', ['--pid', String(pid), `--nofile=${most}:`]);
}
