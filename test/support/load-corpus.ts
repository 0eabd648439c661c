import { existsSync, renameSync } from 'node:fs';
import { startLoadedServer } from '../conformance/run-corpus.ts';
import { createDataDirectory } from './server.ts';

/** `node load-corpus.ts FOLDER`: creates a data directory with the corpus, as a stopped server leaves it, unless it exists. */
const [folder] = process.argv.slice(2);
if (folder === undefined) throw new Error('usage: load-corpus.ts FOLDER');
if (!existsSync(folder)) {
  const data = createDataDirectory();
  const server = await startLoadedServer({ data });
  const { code, output } = await server.stop();
  if (code !== 0) throw new Error(output);
  renameSync(data, folder);
}
