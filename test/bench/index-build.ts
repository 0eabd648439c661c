import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Client } from '@elastic/elasticsearch';
import { Command, Option } from 'commander';
import { openContentGraph } from '../../projections/graph/content-graph.ts';
import { startIndexWriter } from '../../projections/index-writer/index-writer.ts';
import { openSqliteEventStore } from '../../shared/event-store/sqlite/sqlite-event-store.ts';
import { upcast } from '../../shared/events/upcasters.ts';
import type { DocumentIndex } from '../../shared/read-index/document-index.ts';
import {
  createElasticsearchCluster,
  documentDependencies,
} from '../../shared/read-index/elasticsearch/elasticsearch-cluster.ts';
import { removeIndices } from '../support/remove-indices.ts';

/**
 * `node test/bench/index-build.ts --data DIR --url URL`: measures how fast the index writer writes the documents of a loaded data
 * directory to empty indices. It compares that with bare `_bulk` requests of the official client with the same documents, made before:
 * 4 MB each, two at a time. With `--types .` (all types), it also measures `varve rebuild --graph`, by its own reports. Each measurement
 * has its own process. Elasticsearch gets the bare requests once before the first measurement.
 */
const options = new Command()
  .requiredOption('--data <dir>', 'data directory with a log; nothing there is changed')
  .requiredOption('--url <url>', 'Elasticsearch')
  .option('--types <regex>', 'content types', 'restaurant|review')
  .option('--rounds <n>', 'of all, in turn', '2')
  .option(
    '--graph <file>',
    'where the content graph is kept for the next run; without it each run builds one',
  )
  .addOption(new Option('--one <way>', 'measures this alone, for the process that runs them all').hideHelp())
  .parse()
  .opts<{
    data: string;
    url: string;
    types: string;
    rounds: string;
    graph?: string;
    one?: 'raw' | 'writer';
  }>();

const VARVE = join(import.meta.dirname, '../../services/cli/varve.ts');
const REQUEST_BYTES = 4 * 2 ** 20;
const AT_ONCE = 2;

const scratch = mkdtempSync(join(tmpdir(), 'varve-build-'));
const log = openSqliteEventStore(join(options.data, 'events.db'), { space: 'varve', decode: upcast });
const graphFile = options.graph ?? join(scratch, 'graph.db');
const graph = openContentGraph(graphFile, { dependencies: documentDependencies });
for await (const events of log.readAll(graph.position(), { batchSize: 5000 })) graph.replay(events);
const types = [...graph.registry().contentTypes.keys()].filter((uid) => new RegExp(options.types).test(uid));

const rates: Record<'raw' | 'writer' | 'rebuild', number[]> = { raw: [], writer: [], rebuild: [] };
if (options.one === undefined) await measureInTurn();
else
  console.log(
    JSON.stringify(
      await (options.one === 'raw' ? inSpace('benchraw', writeRaw) : inSpace('benchbuild', writeAll)),
    ),
  );
graph.close();
await log.close();
rmSync(scratch, { recursive: true, force: true });

async function measureInTurn(): Promise<void> {
  await alone('raw');
  for (let round = 1; round <= Number(options.rounds); round++) {
    const raw = await alone('raw');
    console.log(`raw _bulk: ${line(raw)}`);
    rates.raw.push(rate(raw));
    show('writer', raw, await alone('writer'));
    if (options.types === '.') show('rebuild', raw, await rebuild());
  }
  const sum = (of: keyof typeof rates) => rates[of].reduce((total, each) => total + each, 0);
  for (const each of ['writer', 'rebuild'] as const)
    if (rates[each].length > 0)
      console.log(`${each}, all rounds: ${(sum(each) / sum('raw')).toFixed(2)} of raw`);
}

/** Measures in another process, so that earlier work does not affect the heap. */
async function alone(way: 'raw' | 'writer'): Promise<Measured> {
  const own = ['--data', options.data, '--url', options.url, '--types', options.types, '--one', way];
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [
    ...['--min-semi-space-size=32', import.meta.filename, ...own, '--graph', graphFile],
  ]);
  process.stderr.write(stderr);
  return JSON.parse(stdout) as Measured;
}

function show(what: 'writer' | 'rebuild', raw: Measured, measured: Measured): void {
  rates[what].push(rate(measured));
  console.log(`${what}: ${line(measured)}, ${(rate(measured) / rate(raw)).toFixed(2)} of raw`);
}

/** Rebuilds the index from a copy of the data directory that no server uses, and measures its first indexing until its last report. */
async function rebuild(): Promise<Measured> {
  const data = mkdtempSync(join(tmpdir(), 'varve-build-data-'));
  const own = ['--data', data, '--read-index', options.url, '--space', 'benchrebuild'];
  cpSync(options.data, data, { recursive: true });
  await removeIndices(options.url, 'benchrebuild');
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--min-semi-space-size=32', VARVE, 'rebuild', '--graph', '--json', ...own],
    { maxBuffer: 2 ** 30 },
  );
  await removeIndices(options.url, 'benchrebuild');
  rmSync(data, { recursive: true });
  const lines = stdout
    .trim()
    .split('\n')
    .map((text) => JSON.parse(text) as RebuildLine);
  const { done, rate: perSecond } = lines.reduce(
    (most, { phase, progress }) => (phase === 'indexing' && progress.done > most.done ? progress : most),
    { done: 0, rate: 1 },
  );
  return { documents: done, seconds: done / perSecond };
}

type RebuildLine = {
  readonly phase: string;
  readonly progress: { readonly done: number; readonly rate: number };
};

type Cluster = ReturnType<typeof createElasticsearchCluster>;
type Measured = { readonly documents: number; readonly seconds: number };

async function inSpace(space: string, work: (cluster: Cluster) => Promise<Measured>): Promise<Measured> {
  await removeIndices(options.url, space);
  const connection = { url: options.url };
  const cluster = createElasticsearchCluster({ connection, space, registry: graph.registry() });
  cluster.use((await cluster.openIndices({ log: 'bench', replaceAll: true, distrusted: [], epoch: 1 })).set);
  const measured = await work(cluster);
  await cluster.close();
  await removeIndices(options.url, space);
  return measured;
}

async function writeAll({ createWriter }: Cluster): Promise<Measured> {
  const writer = createWriter();
  graph.stale?.markAll(types);
  const started = performance.now();
  const indexWriter = startIndexWriter({ graph, index: writer, report: console.error });
  await indexWriter.caughtUp();
  const seconds = (performance.now() - started) / 1000;
  const documents = indexWriter.status().written;
  await indexWriter.close();
  return { documents, seconds };
}

async function writeRaw({ createWriter }: Cluster): Promise<Measured> {
  const requests = rawRequests(createWriter());
  const client = new Client({ node: options.url });
  const started = performance.now();
  let next = 0;
  const workers = Array.from({ length: AT_ONCE }, async () => {
    for (let request = requests[next++]; request !== undefined; request = requests[next++]) {
      const { errors } = await client.bulk({ operations: [request.body], filter_path: 'errors' });
      if (errors) throw new Error('a document was refused');
    }
  });
  await Promise.all(workers);
  await client.indices.refresh({ index: 'benchraw-*' });
  const seconds = (performance.now() - started) / 1000;
  await client.close();
  return { documents: requests.reduce((sum, { count }) => sum + count, 0), seconds };
}

type RawRequest = { readonly body: string; readonly count: number };

function rawRequests(writer: DocumentIndex): readonly RawRequest[] {
  const requests: RawRequest[] = [];
  let batch: Uint8Array[] = [];
  let bytes = 0;
  const close = () => {
    // The client ends the last line itself.
    requests.push({ body: Buffer.concat(batch).toString().trimEnd(), count: batch.length });
    batch = [];
    bytes = 0;
  };
  for (const document of graph.stale?.all() ?? []) {
    if (!types.includes(document.type)) continue;
    const { row, neighbours } = graph.stale?.read(document) ?? {};
    if (row === undefined || neighbours === undefined) continue;
    const made = writer.present(row, neighbours);
    batch.push(made.bytes);
    bytes += made.bytes.length;
    if (bytes >= REQUEST_BYTES) close();
  }
  if (batch.length > 0) close();
  return requests;
}

function line({ documents, seconds }: Measured): string {
  return `${documents} documents in ${seconds.toFixed(1)} s = ${rate({ documents, seconds }).toFixed(0)} documents/s`;
}

function rate({ documents, seconds }: Measured): number {
  return documents / seconds;
}
