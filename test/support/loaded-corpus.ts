import { execFile } from 'node:child_process';
import { cpSync, existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { inject } from 'vitest';
import { createDataDirectory, type RunningServer, type ServerOptions, startServer } from './server.ts';

const LOAD = fileURLToPath(new URL('load-corpus.ts', import.meta.url));

/** A server on a copy of the corpus, which is loaded once for all files of a run: loading takes five times as long as a start. */
export async function startOnCorpus(options: Omit<ServerOptions, 'data'> = {}): Promise<RunningServer> {
  const data = createDataDirectory();
  cpSync(await loadedCorpus(), data, { recursive: true });
  const server = await startServer({ ...options, data });
  return {
    ...server,
    async dispose() {
      await server.dispose();
      rmSync(data, { recursive: true, force: true });
    },
  };
}

/** The data directory; made if it is not there yet. Several processes may ask at once. */
export async function loadedCorpus(): Promise<string> {
  const folder = inject('loadedCorpus');
  const loaded = join(folder, 'data');
  if (!existsSync(loaded))
    await promisify(execFile)('flock', [join(folder, 'lock'), process.execPath, LOAD, loaded]);
  return loaded;
}
