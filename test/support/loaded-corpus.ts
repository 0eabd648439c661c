import { execFile } from 'node:child_process';
import { cpSync, existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { inject } from 'vitest';
import { createDataDirectory, type RunningServer, type ServerOptions, startServer } from './server.ts';

const LOAD = fileURLToPath(new URL('load-corpus.ts', import.meta.url));

/** Starts a server on a copy of the corpus. The corpus is loaded once for all files of a run: loading takes as long as five starts. */
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

/** Returns the data directory, and creates it if it does not exist. Several processes may call this at once. */
export async function loadedCorpus(): Promise<string> {
  const folder = inject('loadedCorpus');
  const loaded = join(folder, 'data');
  if (!existsSync(loaded))
    await promisify(execFile)('flock', [join(folder, 'lock'), process.execPath, LOAD, loaded]);
  return loaded;
}
