import { existsSync } from 'node:fs';
import { Worker } from 'node:worker_threads';

/** Answer of the thread: undefined if the file is clean. */
export type ScrubAnswer = { readonly failure: string | undefined };

/**
 * Writes a SQLite file again without the free pages, which have deleted values, and empties its write-ahead log. A thread does this. Other
 * connections read meanwhile, and wait to write. Does nothing if there is no file. Rejects with a message if another connection is in the
 * way, or the disk is full: call it again then.
 */
export async function scrubFile(path: string): Promise<void> {
  if (!existsSync(path)) return;
  // The thread's file is next to this one, compiled or not.
  const url = new URL(import.meta.url.replace(/scrub-file(\.\w+)$/, 'scrub-thread$1'));
  const thread = new Worker(url, { workerData: path });
  const { failure } = await new Promise<ScrubAnswer>((resolve, reject) => {
    thread.once('message', resolve);
    thread.once('error', reject);
  });
  if (failure !== undefined) throw new Error(`deleted values are still in ${path}: ${failure}`);
}
