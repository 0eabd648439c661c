import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Reporter } from 'vitest/node';

/** A file of tests, and the seconds of CPU of its worker and of all processes that the file started. */
type Used = { readonly file: string; readonly seconds: number };

/** Control groups of version 2 are below the first folder, those of version 1 below the second. */
const MOUNTS = ['/sys/fs/cgroup/cgroup.controllers', '/sys/fs/cgroup/cpuacct'];

/** Creates a control group for the files of a run, whose groups count-cpu.ts adds. Throws without the rights for it. */
export function createCpuGroup(): string {
  const mount = MOUNTS.find(existsSync);
  if (mount === undefined) throw new Error('VARVE_CPU=1 needs control groups of Linux');
  const folder = mount.endsWith('cpuacct') ? mount : '/sys/fs/cgroup';
  const group = join(folder, `varve-${process.pid}`);
  mkdirSync(group, { recursive: true });
  return group;
}

/** Prints the seconds of CPU of each file at the end of a run, and their sum. They depend little on other load, unlike a duration. */
export function createCpuReporter(group: string): Reporter {
  return {
    onTestRunEnd() {
      process.once('exit', () => {
        const all = readdirSync(group, { withFileTypes: true }).filter((entry) => entry.isDirectory());
        const used = all.map(({ name }) => ({
          file: name.replaceAll('@', '/'),
          seconds: secondsOf(join(group, name)),
        }));
        console.log(tableOf(used));
        for (const { name } of all) remove(join(group, name));
        remove(group);
      });
    },
  };
}

/** Ignores that a process of the group is still ending. */
function remove(group: string): void {
  try {
    rmdirSync(group);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EBUSY') throw error;
  }
}

function secondsOf(group: string): number {
  const nanoseconds = join(group, 'cpuacct.usage');
  if (existsSync(nanoseconds)) return Number(readFileSync(nanoseconds, 'utf8')) / 1e9;
  const [, microseconds] = /^usage_usec (\d+)$/m.exec(readFileSync(join(group, 'cpu.stat'), 'utf8')) ?? [];
  return Number(microseconds) / 1e6;
}

function tableOf(used: readonly Used[]): string {
  const rows = used.toSorted((a, b) => b.seconds - a.seconds);
  const sum = rows.reduce((total, { seconds }) => total + seconds, 0);
  const lines = rows.map(({ file, seconds }) => `${seconds.toFixed(1).padStart(8)} ${file}`);
  return ['CPU seconds:', ...lines, `${sum.toFixed(1).padStart(8)} in ${rows.length} files`].join('\n');
}
