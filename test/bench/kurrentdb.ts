import { fork } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openEventStore } from '../../services/stores/open-event-store.ts';
import { encodeEvents } from '../../shared/event-store/event-codec.ts';
import { newEvents } from '../contract/event-store-fixtures.ts';
import type { DoubleVersion } from '../support/kurrentdb/double-services.ts';
import {
  MEASURED_PACE,
  MEASURED_SQLITE_POSTS,
  scaledPace,
  startKurrentDbDouble,
} from '../support/kurrentdb/kurrentdb-double.ts';
import { realServerUrl } from '../support/kurrentdb/real-server.ts';
import { startServer } from '../support/server.ts';
import { startCollector } from '../support/trace-collector.ts';
import { importDataSet } from './bench-data.ts';
import { partsOfPosts } from './post-parts.ts';

/**
 * `node test/bench/kurrentdb.ts [seconds]`: measures POSTs with 1, 8, 32 and 128 at once, an import, a start from an empty data directory,
 * and the parts of a POST, on a log in SQLite and in KurrentDB. KurrentDB is the server that VARVE_TEST_KURRENTDB names, or else the gRPC
 * double of both versions in its own process. Each figure is compared with that of SQLite.
 *
 * The double waits as long as real servers did on another machine (MEASURED_PACE), while SQLite runs on this one. So a second table
 * ESTIMATES a server on this machine: it divides the pace by how much faster this machine makes POSTs on SQLite. The factor also has what
 * Varve itself has gained since the recording. Run it alone: a factor below 1 means that the machine was busy.
 */
const CONCURRENCY = [...MEASURED_SQLITE_POSTS.keys()];
const SIZE = { restaurants: '3000', reviews: '9000' };

type Log = { readonly name: string; readonly url?: string };
type Figures = ReadonlyMap<string, number>;

const VERSIONS: readonly DoubleVersion[] = ['24.2', '26.1'];

if (process.send !== undefined) await serveDouble(process.argv[2] as DoubleVersion, Number(process.argv[3]));
else await compare();

async function serveDouble(server: DoubleVersion, factor: number): Promise<void> {
  const double = await startKurrentDbDouble({ server, pace: scaledPace(MEASURED_PACE[server], factor) });
  process.send?.(double.url);
}

async function compare(): Promise<void> {
  const seconds = Number(process.argv[2] ?? 3);
  const real = realServerUrl();
  if (real !== undefined)
    return measurePair(seconds, (_, measure) => measure({ name: 'the server', url: real }));
  for (const version of VERSIONS) {
    const name = `the double of ${version} at the recorded pace`;
    await measurePair(seconds, (_, measure) => withDouble(version, 1, (url) => measure({ name, url })));
    await measurePair(seconds, (sqlite, measure) => {
      const factor = speedOf(sqlite);
      const estimated = `ESTIMATE, not a server: ${name} divided by ${factor.toFixed(2)}`;
      return withDouble(version, factor, (url) => measure({ name: estimated, url }));
    });
  }
}

type MeasureLog = (log: Log) => Promise<void>;

/** Measures SQLite and then another log, because the load of a machine changes within a run. */
async function measurePair(
  seconds: number,
  other: (sqlite: Figures, measure: MeasureLog) => Promise<void>,
): Promise<void> {
  const sqlite = await measureLog({ name: 'SQLite' }, seconds);
  print('SQLite', sqlite, sqlite);
  await other(sqlite, async (log) => print(log.name, await measureLog(log, seconds), sqlite));
}

/** Returns how much faster this machine makes POSTs on SQLite than that of the recording: the geometric mean for all concurrencies. */
function speedOf(sqlite: Figures): number {
  const ratios = [...MEASURED_SQLITE_POSTS].map(
    ([concurrency, recorded]) => (sqlite.get(posts(concurrency)) ?? Number.NaN) / recorded,
  );
  const factor = ratios.reduce((product, ratio) => product * ratio, 1) ** (1 / ratios.length);
  const each = ratios.map((ratio, n) => `${ratio.toFixed(2)} with ${CONCURRENCY[n]}`).join(', ');
  console.log(
    `this machine makes ${factor.toFixed(2)} times the POSTs of the recorded one on SQLite (${each})`,
  );
  return factor;
}

async function withDouble(version: DoubleVersion, factor: number, use: (url: string) => Promise<void>) {
  const child = fork(fileURLToPath(import.meta.url), [version, `${factor}`]);
  try {
    const [url] = await once(child, 'message');
    await use(String(url));
  } finally {
    child.kill();
  }
}

function posts(concurrency: number): string {
  return `POSTs a second, ${concurrency} at once`;
}

function print(name: string, figures: Figures, sqlite: Figures): void {
  console.log(`${name} (load ${loadavg()[0]?.toFixed(1)})`);
  for (const [what, value] of figures) {
    const ratio = value / (sqlite.get(what) ?? value);
    console.log(`  ${what}: ${value} (${ratio.toFixed(2)} of SQLite)`);
  }
}

async function measureLog({ url }: Log, seconds: number): Promise<Figures> {
  const settings = url === undefined ? [] : ['--event-store', url];
  const figures = new Map<string, number>();
  const key = randomBytes(32).toString('base64url');
  const inSpace = (space: string) => [...settings, '--space', `${space}_${process.pid}`, '--access-key', key];
  const server = await startServer({ arguments: inSpace('bench') });
  try {
    await measure(server.url, 8, 1);
    for (const concurrency of CONCURRENCY) {
      const { rate, medianMs } = await measure(server.url, concurrency, seconds);
      figures.set(posts(concurrency), rate);
      if (concurrency === 1) figures.set('milliseconds of a POST', medianMs);
    }
  } finally {
    await server.stop();
    await server.dispose();
  }
  for (const [part, ms] of await measureParts(inSpace('parts'))) figures.set(`milliseconds of ${part}`, ms);
  const scratch = mkdtempSync(join(tmpdir(), 'varve-bench-'));
  const data = join(scratch, 'data');
  const { documents, seconds: took } = importDataSet(data, join(scratch, 'files'), SIZE, {
    settings: inSpace('import'),
  });
  figures.set('documents a second of an import, with its start', Math.round(documents / took));
  const log = url ?? `sqlite:${join(data, 'events.db')}`;
  const onLog = (space: string) => ['--event-store', log, ...inSpace(space).slice(settings.length)];
  const events = await countEvents(log, `import_${process.pid}`);
  const empty = await timeOfStart(onLog('empty'));
  const full = await timeOfStart(onLog('import'));
  figures.set('events a second of a start', Math.round(events / Math.max(0.001, full - empty)));
  rmSync(scratch, { recursive: true });
  return figures;
}

async function countEvents(url: string, space: string): Promise<number> {
  const store = await openEventStore(url, { space });
  let events = 0;
  for await (const batch of store.readAll(0n)) events += batch.length;
  await store.close();
  return events;
}

async function timeOfStart(settings: readonly string[]): Promise<number> {
  const started = performance.now();
  const server = await startServer({ arguments: settings });
  const took = (performance.now() - started) / 1_000;
  await server.stop();
  await server.dispose();
  return took;
}

/** Returns the average milliseconds of each part of a POST, with one at a time. */
async function measureParts(settings: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const collector = await startCollector();
  const server = await startServer({
    arguments: settings,
    env: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url },
  });
  try {
    await measure(server.url, 1, 2);
  } finally {
    await server.stop();
    await server.dispose();
    collector.close();
  }
  return new Map([...partsOfPosts(collector.spans), ['encoding, a part of the append', encodingMs()]]);
}

/** Returns the milliseconds in which the events of one POST are encoded. */
function encodingMs(): number {
  const started = performance.now();
  const rounds = 2_000;
  for (let n = 0; n < rounds; n += 1) encodeEvents('varve.bench', newEvents(1));
  return Math.round(((performance.now() - started) / rounds) * 1_000) / 1_000;
}

async function post(url: string): Promise<void> {
  const answer = await fetch(`${url}/api/restaurants`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ data: { name: 'Da Carmela', key: randomUUID() } }),
  });
  if (answer.status !== 201) throw new Error(`${answer.status} ${await answer.text()}`);
  await answer.arrayBuffer();
}

async function measure(url: string, concurrency: number, seconds: number) {
  const started = performance.now();
  const until = started + seconds * 1_000;
  const took: number[] = [];
  const worker = async () => {
    while (performance.now() < until) {
      const before = performance.now();
      await post(url);
      took.push(performance.now() - before);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
  const rate = Math.round(took.length / ((performance.now() - started) / 1_000));
  const median = took.sort((one, other) => one - other)[took.length >> 1] ?? 0;
  return { rate, medianMs: Math.round(median * 100) / 100 };
}
