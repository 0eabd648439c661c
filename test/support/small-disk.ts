import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A file system of a few megabytes, in memory. */
export type SmallDisk = {
  readonly path: string;
  /** Fills the disk except for so many bytes. */
  fill(but?: number): void;
  /** Frees the space again. */
  empty(): void;
  /** Makes the file system read-only. */
  makeReadOnly(): void;
  remove(): void;
};

/** Mounts a small file system. Returns undefined if this process may not mount one. */
export function mountSmallDisk(megabytes: number): SmallDisk | undefined {
  const path = mkdtempSync(join(tmpdir(), 'varve-small-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m,mode=700`, 'tmpfs', path], {
      stdio: 'ignore',
    });
  } catch {
    rmdirSync(path);
    return undefined;
  }
  const fillers: string[] = [];
  return {
    path,
    fill(but = 0) {
      const { bavail, bsize } = statfsSync(path);
      const file = join(path, `filler-${fillers.length}`);
      fillers.push(file);
      writeFileSync(file, Buffer.alloc(Math.max(0, bavail * bsize - but)));
    },
    empty() {
      for (const file of fillers.splice(0)) rmSync(file, { force: true });
    },
    makeReadOnly() {
      execFileSync('mount', ['-o', 'remount,ro', path], { stdio: 'ignore' });
    },
    remove() {
      execFileSync('umount', ['-l', path]);
      rmdirSync(path);
    },
  };
}

/** Returns the reason why tests with a small disk are skipped, or undefined if they run. */
export function whyNoSmallDisk(): string | undefined {
  const disk = mountSmallDisk(1);
  if (disk === undefined) return 'this process may not mount a tmpfs';
  disk.remove();
  return undefined;
}
