import { cpSync, rmSync } from 'node:fs';
import { startLoadedServer } from '../conformance/run-corpus.ts';
import { elasticsearchUrl } from './elasticsearch.ts';
import { removeIndices } from './remove-indices.ts';
import { createDataDirectory, type RunningServer, type ServerOptions, startServer } from './server.ts';

let made = 0;

/** Starts a server with its own indices on Elasticsearch, which `dispose` removes. */
export async function startOnElasticsearch(options: ServerOptions = {}): Promise<RunningServer> {
  const space = `server_${process.pid}_${++made}`;
  const url = await elasticsearchUrl();
  const more = ['--read-index', url, '--space', space];
  const server = await startServer({ ...options, arguments: [...(options.arguments ?? []), ...more] });
  return {
    ...server,
    async dispose() {
      await server.dispose();
      await removeIndices(url, space);
    },
  };
}

/** Starts such a server with the corpus. It is loaded with the embedded index, which only takes seconds. */
export async function startCorpusOnElasticsearch(): Promise<RunningServer> {
  const space = `server_${process.pid}_${made + 1}`;
  const loaded = await startLoadedServer({ arguments: ['--space', space] });
  await loaded.stop();
  const data = createDataDirectory();
  cpSync(loaded.data, data, { recursive: true });
  await loaded.dispose();
  const server = await startOnElasticsearch({ data });
  return {
    ...server,
    async dispose() {
      await server.dispose();
      rmSync(data, { recursive: true, force: true });
    },
  };
}
