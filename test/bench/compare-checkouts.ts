import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Distinct, geomean, num, table } from '../conformance/bench/common.mjs';
import { type DataSize, importDataSet, ROOT } from './bench-data.ts';
import { get, type LoadRequest, type LoadResult, type MeasureLoad } from './measure-load.ts';
import { type PairedMedian, pairedMedian } from './paired-ratios.ts';
import type { ServerProcess } from './server-process.ts';
import { startVarve } from './start-varve.ts';

export type CompareCheckoutsOptions = {
  /** Another checkout of this repository with its dependencies installed. */
  readonly against: string;
  readonly size: DataSize;
  /** A has this many times the documents of B. Default: the same documents. */
  readonly times?: number | undefined;
  /** Folder with one folder per side. A side's data is loaded there, or used again. */
  readonly data: string;
  readonly scratch: string;
  /** Duration of one measurement. A pair is two measurements: one of A, one of B. */
  readonly seconds: number;
  readonly pairs: number;
  readonly connections: number;
  readonly seed: number;
  readonly queries: readonly { readonly name: string; readonly template: string }[];
  readonly appends: boolean;
  /** Workers of A. Default: one. */
  readonly workers?: number | undefined;
  readonly measureLoad: MeasureLoad;
  readonly say: (line: string) => void;
};

/** Result of the comparison. `holds`: A is fast enough. */
export type Verdict = { readonly holds: boolean };

type Side = { readonly name: 'A' | 'B'; readonly server: ServerProcess };
type Measured = LoadResult & { readonly perCpuSecond: number };
type Compared = {
  readonly name: string;
  readonly a: readonly Measured[];
  readonly b: readonly Measured[];
  readonly kind: 'read' | 'append';
};

const STATUS_EVERY_MS = 500;
/** A server reads the words of all texts after its start, in slices. Reads are measured when it has. */
const WORDS_READ_MS = 60_000;
const LEAST = { read: 0.97, append: 0.95 };
/** Ten times the documents may cost three times as much. */
const LEAST_OF_MANY = { read: 1 / 3, append: 1 / 3 };

/**
 * Measures this checkout (A) and another (B) in one run. Both serve the same documents, or A serves more of them. For each query they are measured in turns, so
 * that other load on the machine affects both. The ratio within a pair counts. A starts first for half of the pairs, and B for the
 * other half: the server that starts second was up to 20 % faster.
 */
export async function compareCheckouts(options: CompareCheckoutsOptions): Promise<Verdict> {
  const { say, pairs } = options;
  const rounds = [
    await measureRound(['A', 'B'], Math.ceil(pairs / 2), options),
    await measureRound(['B', 'A'], Math.floor(pairs / 2), options),
  ];
  const [compared, appended] = [mergeRounds(rounds, 'read'), mergeRounds(rounds, 'append')[0]];
  const reads = allReads(compared);
  const rows = [...compared, ...(appended === undefined ? [] : [appended])].map((each) => ({
    ...each,
    rate: pairedMedian(ratios(each, ({ rate }) => rate)),
    cpu: pairedMedian(ratios(each, ({ perCpuSecond }) => perCpuSecond)),
  }));
  const head = ['', 'A req/s', 'B req/s', 'A / B', 'interval', 'A / B per CPU second', 'interval', 'failed'];
  say(
    table(
      head,
      rows.map((row) => [
        row.name,
        num(pairedMedian(row.a.map(({ rate }) => rate)).median, 0),
        num(pairedMedian(row.b.map(({ rate }) => rate)).median, 0),
        ...[num(row.rate.median, 3), interval(row.rate), num(row.cpu.median, 3), interval(row.cpu)],
        [...row.a, ...row.b].reduce((sum, { failed }) => sum + failed, 0),
      ]),
    ),
  );
  const all = reads === undefined ? undefined : pairedMedian(reads);
  if (all !== undefined) say(`all reads: A / B ${num(all.median, 3)}, ${interval(all)}`);
  const least = options.times === undefined ? LEAST : LEAST_OF_MANY;
  // One query has few pairs. It counts against A only if its whole interval is too low.
  const low = rows.filter(({ rate, kind }) => rate.median < least[kind] && rate.high < least[kind]);
  const appends = rows.find(({ name }) => name === 'append');
  const holds =
    low.length === 0 &&
    (all === undefined || all.median >= least.read) &&
    (appends === undefined || appends.rate.median >= least.append);
  const names = low.map(({ name }) => name).join(', ');
  say(holds ? 'A is fast enough' : `A is too slow${names === '' ? '' : `: ${names}`}`);
  return { holds };
}

/** Starts both sides in `order`, measures every query and the appends, and stops them. */
async function measureRound(
  order: readonly Side['name'][],
  pairs: number,
  options: CompareCheckoutsOptions,
): Promise<Compared[]> {
  if (pairs === 0) return [];
  const sides: Side[] = [];
  for (const name of order) sides.push(await startSide(name, options));
  await delay(WORDS_READ_MS * Math.max(1, (options.times ?? 1) / 3));
  const round = { ...options, pairs };
  const compared: Compared[] = [];
  for (const { name, template } of options.queries) {
    const paths = new Distinct(template, options.seed);
    let used = 0;
    compared.push(await comparePairs({ name, kind: 'read' }, sides, round, () => get(paths.get(used++))));
  }
  if (options.appends) {
    let written = 0;
    const request = () => append(order.join(''), written++);
    compared.push(await comparePairs({ name: 'append', kind: 'append' }, sides, round, request));
  }
  const memory = sides.map(({ name, server }) => `${name} ${num(server.residentMiB(), 0)} MiB`);
  options.say(`memory: ${memory.join(', ')}`);
  await Promise.all(sides.map(({ server }) => server.stop()));
  return compared;
}

/** One entry for each query of `kind`, with the pairs of all rounds. */
function mergeRounds(rounds: readonly (readonly Compared[])[], kind: Compared['kind']): Compared[] {
  const all = rounds.flat().filter((each) => each.kind === kind);
  return [...Map.groupBy(all, ({ name }) => name)].map(([name, same]) => ({
    name,
    kind,
    a: same.flatMap(({ a }) => a),
    b: same.flatMap(({ b }) => b),
  }));
}

async function startSide(name: Side['name'], options: CompareCheckoutsOptions): Promise<Side> {
  const checkout = name === 'A' ? ROOT : resolve(options.against);
  const data = join(options.data, name);
  if (!existsSync(data)) {
    const size = name === 'A' ? sizeTimes(options.size, options.times ?? 1) : options.size;
    const { documents, seconds } = importDataSet(data, join(options.scratch, name), size, { checkout });
    options.say(`${name} = ${checkout}: ${num(documents / seconds, 0)} documents/s imported`);
  }
  const workers = name === 'A' ? (options.workers ?? 1) : 1;
  const started = performance.now();
  // A remembered answer costs the same for any number of documents.
  const more = ['--answer-cache-bytes', '0', ...(workers > 1 ? ['--workers', `${workers}`] : [])];
  const server = await startVarve({ data, checkout, more });
  options.say(`${name} is ready after ${num((performance.now() - started) / 1000)} s`);
  while (countWorkers(checkout, data) < workers - 1) await delay(STATUS_EVERY_MS);
  return { name, server };
}

function sizeTimes({ restaurants, reviews }: DataSize, times: number): DataSize {
  return { restaurants: String(Number(restaurants) * times), reviews: String(Number(reviews) * times) };
}

/** Returns the number of reading workers that are caught up with the log. */
function countWorkers(checkout: string, data: string): number {
  const command = ['services/cli/varve.ts', 'status', '--json', '--data', data];
  const status = execFileSync(process.execPath, command, { cwd: checkout, encoding: 'utf8' });
  const { workers = [] } = JSON.parse(status) as { readonly workers?: readonly { readonly role: string }[] };
  return workers.filter(({ role }) => role === 'reading').length;
}

async function comparePairs(
  { name, kind }: Pick<Compared, 'name' | 'kind'>,
  sides: readonly Side[],
  options: CompareCheckoutsOptions,
  request: () => LoadRequest,
): Promise<Compared> {
  const { seconds, pairs, connections, measureLoad } = options;
  const measured: Record<'A' | 'B', Measured[]> = { A: [], B: [] };
  for (let pair = -1; pair < pairs; pair++) {
    // The sides take turns in being first.
    for (const { name: side, server } of pair % 2 === 0 ? sides : sides.toReversed()) {
      const before = server.cpuSeconds();
      const load = await measureLoad({ base: server.base, request }, connections, seconds);
      const cpu = server.cpuSeconds() - before;
      // The first pair only warms up both servers.
      if (pair >= 0) measured[side].push({ ...load, perCpuSecond: load.requests / cpu });
    }
  }
  const compared = { name, kind, a: measured.A, b: measured.B };
  const { median, ...rest } = pairedMedian(ratios(compared, ({ rate }) => rate));
  console.error(`${name}: ${num(median, 3)}, ${interval({ median, ...rest })}`);
  return compared;
}

function ratios({ a, b }: Compared, of: (each: Measured) => number): number[] {
  return a.map((each, pair) => of(each) / of(b[pair] as Measured));
}

/** Returns the geometric mean of all queries, for each pair. */
function allReads(compared: readonly Compared[]): number[] | undefined {
  const [first] = compared;
  if (first === undefined) return undefined;
  const byQuery = compared.map((each) => ratios(each, ({ rate }) => rate));
  return first.a.map((_, pair) => geomean(byQuery.map((of) => of[pair] as number)));
}

/** Returns a request that creates a small document with a unique key. */
function append(round: string, i: number): LoadRequest {
  const data = { key: `bench-${process.pid}-${round}-${i}`, name: `Tag ${i}`, weight: i % 100 };
  return { method: 'POST', path: '/api/tags', body: JSON.stringify({ data }) };
}

function interval({ low, high, confidence }: PairedMedian): string {
  return `${num(low, 3)} to ${num(high, 3)} (${num(confidence * 100, 0)} %)`;
}
