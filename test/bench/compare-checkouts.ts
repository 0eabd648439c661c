import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Distinct, geomean, num, table } from '../conformance/bench/common.mjs';
import { CONTENT_TYPES, type DataSize, importDataSet, ROOT } from './bench-data.ts';
import { get, type LoadRequest, type LoadResult, measureLoad } from './measure-load.ts';
import { type PairedMedian, pairedMedian } from './paired-ratios.ts';
import { type ServerProcess, startProcess } from './server-process.ts';

export type CompareCheckoutsOptions = {
  /** Another checkout of this repository with its dependencies installed. */
  readonly against: string;
  readonly size: DataSize;
  /** Each side's data is loaded into folders below, or used again from there. */
  readonly data: string;
  readonly scratch: string;
  /** Of each measurement; a pair is two. */
  readonly seconds: number;
  readonly pairs: number;
  readonly connections: number;
  readonly seed: number;
  readonly queries: readonly { readonly name: string; readonly template: string }[];
  readonly appends: boolean;
  readonly say: (line: string) => void;
};

/** Whether every median is high enough. */
export type Verdict = { readonly holds: boolean };

type Side = { readonly name: 'A' | 'B'; readonly server: ServerProcess };
type Measured = LoadResult & { readonly perCpuSecond: number };
type Compared = {
  readonly name: string;
  readonly a: readonly Measured[];
  readonly b: readonly Measured[];
  readonly least: number;
};

const LEAST_READS = 0.97;
const LEAST_APPENDS = 0.95;
/** Room for a start's short-lived rows, as `npm start` gives it. */
const NODE_FLAGS = ['--min-semi-space-size=32'];

/**
 * Measures this checkout (A) and another (B) in one run: both serve the same documents, and for each query they are loaded in
 * turns, so that what else the machine does meets both. The ratio within a pair is what counts.
 */
export async function compareCheckouts(options: CompareCheckoutsOptions): Promise<Verdict> {
  const { say, queries, seed } = options;
  const sides = [
    await startSide('A', ROOT, options),
    await startSide('B', resolve(options.against), options),
  ];
  const compared: Compared[] = [];
  for (const { name, template } of queries) {
    const paths = new Distinct(template, seed);
    let used = 0;
    compared.push(await comparePairs(name, sides, options, () => get(paths.get(used++)), LEAST_READS));
  }
  const reads = allReads(compared);
  let written = 0;
  const appended = options.appends
    ? await comparePairs('append', sides, options, () => append(written++), LEAST_APPENDS)
    : undefined;
  await Promise.all(sides.map(({ server }) => server.stop()));
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
  // One query's pairs alone say little: it counts against A when its whole interval does.
  const low = rows.filter(({ rate, least }) => rate.median < least && rate.high < least);
  const appends = rows.find(({ name }) => name === 'append');
  const holds =
    low.length === 0 &&
    (all === undefined || all.median >= LEAST_READS) &&
    (appends === undefined || appends.rate.median >= LEAST_APPENDS);
  const names = low.map(({ name }) => name).join(', ');
  say(holds ? 'A is fast enough' : `A is too slow${names === '' ? '' : `: ${names}`}`);
  return { holds };
}

async function startSide(name: 'A' | 'B', checkout: string, options: CompareCheckoutsOptions): Promise<Side> {
  const data = join(options.data, name);
  if (!existsSync(data)) {
    const { documents, seconds } = importDataSet(data, join(options.scratch, name), options.size, checkout);
    options.say(`${name} = ${checkout}: ${num(documents / seconds, 0)} documents/s imported`);
  }
  const args = ['services/cli/varve.ts', 'serve', '--content-types', CONTENT_TYPES];
  const server = await startProcess(
    [...NODE_FLAGS, ...args, '--data', data, '--port', '0'],
    checkout,
    '/_health',
  );
  return { name, server };
}

async function comparePairs(
  name: string,
  sides: readonly Side[],
  options: CompareCheckoutsOptions,
  request: () => LoadRequest,
  least: number,
): Promise<Compared> {
  const { seconds, pairs, connections } = options;
  const measured: Record<'A' | 'B', Measured[]> = { A: [], B: [] };
  for (let pair = -1; pair < pairs; pair++) {
    // Neither is always first.
    for (const { name: side, server } of pair % 2 === 0 ? sides : sides.toReversed()) {
      const before = server.cpuSeconds();
      const load = await measureLoad({ base: server.base, request }, connections, seconds);
      const cpu = server.cpuSeconds() - before;
      // The first pair warms both.
      if (pair >= 0) measured[side].push({ ...load, perCpuSecond: load.requests / cpu });
    }
  }
  const compared = { name, a: measured.A, b: measured.B, least };
  const { median, ...rest } = pairedMedian(ratios(compared, ({ rate }) => rate));
  console.error(`${name}: ${num(median, 3)}, ${interval({ median, ...rest })}`);
  return compared;
}

function ratios({ a, b }: Compared, of: (each: Measured) => number): number[] {
  return a.map((each, pair) => of(each) / of(b[pair] as Measured));
}

/** The geometric mean over all queries, for each pair. */
function allReads(compared: readonly Compared[]): number[] | undefined {
  const [first] = compared;
  if (first === undefined) return undefined;
  const byQuery = compared.map((each) => ratios(each, ({ rate }) => rate));
  return first.a.map((_, pair) => geomean(byQuery.map((of) => of[pair] as number)));
}

/** A small document, as different from every other as its key. */
function append(i: number): LoadRequest {
  const data = { key: `bench-${process.pid}-${i}`, name: `Tag ${i}`, weight: i % 100 };
  return { method: 'POST', path: '/api/tags', body: JSON.stringify({ data }) };
}

function interval({ low, high, confidence }: PairedMedian): string {
  return `${num(low, 3)} to ${num(high, 3)} (${num(confidence * 100, 0)} %)`;
}
