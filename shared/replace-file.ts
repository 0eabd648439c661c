import { renameSync, rmSync, writeFileSync } from 'node:fs';

/** Replaces a file that only its owner may read, and syncs it to the disk. After a crash it has the text of before or of after. */
export function replaceFile(file: string, text: string): void {
  const next = `${file}.new`;
  rmSync(next, { force: true });
  writeFileSync(next, text, { mode: 0o600, flush: true });
  renameSync(next, file);
}
