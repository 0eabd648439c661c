import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command } from 'commander';
import { defined } from '../../shared/defined.ts';
import { Distinct, median, num, table } from '../conformance/bench/common.mjs';
import { importDataSet, ROOT } from './bench-data.ts';
import { get, type LoadResult } from './measure-load.ts';
import { startLoad } from './start-load.ts';
import { startVarve } from './start-varve.ts';

/**
 * `node test/bench/starvation.ts`: measures how heavy queries delay other requests. Some connections send legal but heavy queries without
 * a pause. Two more ask for a plain page and for /_health, each some fifty times a second. Prints the medians of several runs. The aim
 * is a p99 under 40 ms for the page and under 50 ms for /_health.
 */
const options = new Command()
  .option('--seconds <n>', 'seconds of a run', '5')
  .option('--runs <n>', 'runs, whose medians count', '5')
  .option('--connections <n>', 'connections with heavy queries', '16')
  .option('--checkout <dir>', 'the checkout that serves', ROOT)
  .option('--data <dir>', 'keep the loaded data here and use it again')
  .option('--restaurants <n>', 'size of the data set', '20000')
  .option('--reviews <n>', 'size of the data set', '60000')
  .option('--query-time-limit <ms>', 'given to the server', '5000')
  .parse()
  .opts<
    Record<
      'seconds' | 'runs' | 'connections' | 'checkout' | 'restaurants' | 'reviews' | 'queryTimeLimit',
      string
    > & {
      data?: string;
    }
  >();

const HEAVY = [
  '/api/reviews?filters[restaurant][reviews][text][$notContainsi]=x{{int:0:999999}}&filters[restaurant][tags][restaurants][reviews][text][$containsi]={{pick:a|e|i|o|n|r|s|t}}&sort=restaurant.reviews.title,text',
  '/api/restaurants?filters[reviews][text][$containsi]={{pick:a|e|i|o|n|r|s|t}}&filters[reviews][title][$notContainsi]=y{{int:0:999999}}&sort=reviews.text:desc,name&populate=*',
  '/api/reviews?_q={{pick:a|e|i|o|n|r|s|t}}&filters[text][$notContainsi]=z{{int:0:999999}}&sort=text:desc,title',
  '/api/restaurants?populate[reviews][populate][restaurant][populate]=tags&pagination[pageSize]=100&sort=tags.restaurants.name,price&filters[name][$notContainsi]=w{{int:0:999999}}',
];
const PLAIN = '/api/restaurants?pagination[start]={{int:0:9900}}&pagination[limit]={{int:20:30}}';
/** Pause between requests of the light traffic, so that it adds no load. */
const LIGHT_PAUSE_MS = 20;

const scratch = mkdtempSync(join(tmpdir(), 'varve-starvation-'));
try {
  const data = options.data ?? join(scratch, 'data');
  if (!existsSync(data)) importDataSet(data, scratch, options, defined({ checkout: options.checkout }));
  const more = ['--query-time-limit', options.queryTimeLimit];
  const server = await startVarve({ data, more, ...defined({ checkout: options.checkout }) });
  const plain = new Distinct(PLAIN, 1);
  const quiet = await measureLight(server.base, plain, Number(options.seconds));
  const rows: (readonly [LoadResult, LoadResult, LoadResult])[] = [];
  const templates = HEAVY.map((template, seed) => new Distinct(template, seed));
  let asked = 0;
  for (let run = 0; run < Number(options.runs); run++) {
    const heavy = startLoad(
      {
        base: server.base,
        request: () =>
          get((templates[asked % templates.length] as Distinct).get(Math.floor(asked++ / templates.length))),
      },
      Number(options.connections),
    );
    const from = performance.now();
    // The index is cold in the first run.
    const [page, health] = await measureLight(server.base, plain, Number(options.seconds));
    rows.push([page, health, heavy.between(from, performance.now())]);
    await heavy.stop();
  }
  await server.stop();
  const of = (at: 0 | 1 | 2, pick: (load: LoadResult) => number) =>
    num(median(rows.map((row) => pick(row[at]))), 1);
  const line = (name: string, at: 0 | 1 | 2, before?: LoadResult) => [
    ...[name, before === undefined ? '' : num(before.p50, 1), before === undefined ? '' : num(before.p99, 1)],
    ...[
      of(at, (load) => load.p50),
      of(at, (load) => load.p99),
      of(at, (load) => load.rate),
      of(at, (load) => load.failed),
    ],
  ];
  console.log(
    table(
      ['', 'p50 ms alone', 'p99 ms alone', 'p50 ms', 'p99 ms', 'answers/s', 'failed'],
      [line('plain page', 0, quiet[0]), line('/_health', 1, quiet[1]), line('heavy queries', 2)],
    ),
  );
} finally {
  rmSync(scratch, { recursive: true, force: true });
}

/** Measures the page and /_health at the same time, on one connection each. */
async function measureLight(
  base: string,
  plain: Distinct,
  seconds: number,
): Promise<readonly [LoadResult, LoadResult]> {
  const until = performance.now() + seconds * 1000;
  const ask = async (path: () => string): Promise<LoadResult> => {
    const times: number[] = [];
    let failed = 0;
    while (performance.now() < until) {
      const start = performance.now();
      const answer = await fetch(base + path());
      await answer.arrayBuffer();
      if (answer.ok) times.push(performance.now() - start);
      else failed++;
      await new Promise((resolve) => setTimeout(resolve, LIGHT_PAUSE_MS));
    }
    times.sort((a, b) => a - b);
    const at = (share: number) =>
      times[Math.min(times.length - 1, Math.floor(share * times.length))] ?? Number.NaN;
    return {
      rate: times.length / seconds,
      p50: at(0.5),
      p99: at(0.99),
      p999: at(0.999),
      requests: times.length,
      failed,
    };
  };
  return Promise.all([ask(() => plain.get(Math.floor(Math.random() * 5_000))), ask(() => '/_health')]);
}
