import { setTimeout as delay } from 'node:timers/promises';
import { Command } from 'commander';
import { num } from '../conformance/bench/common.mjs';
import { type ElasticsearchFleet, startElasticsearchFleet } from '../support/elasticsearch-fleet.ts';
import { sampleOf } from '../support/metrics-client.ts';
import { startReceiver } from '../support/webhook-receiver.ts';
import { get } from './measure-load.ts';
import { pairedMedian } from './paired-ratios.ts';
import { measureByWrk } from './wrk.ts';

/**
 * `node test/bench/unchanged-answers.ts --elasticsearch URL`: compares the rate of 304 of `varve api` with that of the 200 of the same
 * deep populated page, in pairs, while `varve project --purge` notes tags. With `--edits`, a document of another page is edited all the
 * time. The aim is a ratio of 3. Needs wrk.
 */
const options = new Command()
  .requiredOption('--elasticsearch <url>', 'where Elasticsearch is')
  .option('--pairs <n>', 'pairs of measurements', '9')
  .option('--seconds <n>', 'seconds per measurement', '2')
  .option('--connections <n>', 'connections', '16')
  .option('--edits <n>', 'edits a second', '0')
  .parse()
  .opts<Record<'elasticsearch' | 'pairs' | 'seconds' | 'connections' | 'edits', string>>();

const RESTAURANTS = 100;
const PAGE =
  '/api/restaurants?sort=key&populate[chef][populate]=country&populate[tags]=true&populate[category]=true';

const receiver = await startReceiver();
receiver.answer(() => ({ status: 200 }));
const fleet = await startElasticsearchFleet({
  url: options.elasticsearch,
  space: `unchanged_bench_${process.pid}`,
  projects: 1,
  apis: 1,
  env: { VARVE_PURGE: `webhook=${receiver.url}`, VARVE_CACHE_TAGS: 'varnish' },
});
let isDone = false;
try {
  const edited = await fill();
  const editing = editNowAndThen(edited);
  await report();
  isDone = true;
  await editing;
} finally {
  await fleet.dispose();
  await receiver.close();
}

function base({ apis }: ElasticsearchFleet = fleet): string {
  return apis[0]?.server().url ?? '';
}

async function write(method: 'POST' | 'PUT', path: string, data: object): Promise<string> {
  const answer = await fetch(`${base()}/api/${path}`, {
    method,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ data }),
  });
  if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`);
  return ((await answer.json()) as { readonly data: { readonly documentId: string } }).data.documentId;
}

/** Creates the content. Resolves to the id of a document that no measured page shows. */
async function fill(): Promise<string> {
  const country = await write('POST', 'countries', { key: 'c', name: 'Italy' });
  const category = await write('POST', 'categories', { key: 'c', name: 'Food' });
  const [chefs, tags]: [string[], string[]] = [[], []];
  for (let n = 0; n < 10; n++)
    chefs.push(await write('POST', 'chefs', { key: `c${n}`, name: `Chef ${n}`, country }));
  for (let n = 0; n < 20; n++) tags.push(await write('POST', 'tags', { key: `t${n}`, name: `Tag ${n}` }));
  for (let n = 0; n < RESTAURANTS; n++) {
    const own = { chef: chefs[n % chefs.length], category, tags: tags.slice(n % 15, (n % 15) + 4) };
    const description = `A place with number ${n}. `.repeat(10);
    await write('POST', 'restaurants', { key: `r${n}`, name: `Restaurant ${n}`, description, ...own });
  }
  return write('POST', 'articles', { key: 'edited', title: 'edited' });
}

async function editNowAndThen(documentId: string): Promise<void> {
  const rate = Number(options.edits);
  for (let n = 0; rate > 0 && !isDone; n++) {
    await write('PUT', `articles/${documentId}`, { title: `edit ${n}` });
    await delay(1_000 / rate);
  }
}

/** Returns the number of 304 that were sent without making the answer. */
async function shortcuts(): Promise<number> {
  return sampleOf(await (await fetch(`${base()}/metrics`)).text(), 'varve_answer_cache_hits_total') ?? 0;
}

async function report(): Promise<void> {
  const etag = (await fetch(base() + PAGE)).headers.get('etag') ?? '';
  const measure = (headers: Readonly<Record<string, string>>) =>
    measureByWrk(
      { base: base(), request: () => get(PAGE), headers },
      Number(options.connections),
      Number(options.seconds),
    );
  const rates: { readonly unchanged: number; readonly whole: number }[] = [];
  let [sent, short] = [0, 0];
  // The first pair only warms up the server.
  for (let pair = -1; pair < Number(options.pairs); pair++) {
    const before = await shortcuts();
    const unchanged = await measure({ 'If-None-Match': etag });
    const after = await shortcuts();
    const whole = await measure({});
    if (pair < 0) continue;
    rates.push({ unchanged: unchanged.rate, whole: whole.rate });
    sent += unchanged.requests;
    short += after - before;
  }
  const { median, low, high } = pairedMedian(rates.map((one) => one.unchanged / one.whole));
  const middle = (side: 'unchanged' | 'whole') => num(pairedMedian(rates.map((one) => one[side])).median, 0);
  console.log(
    `304: ${middle('unchanged')}/s, 200: ${middle('whole')}/s, ratio ${num(median, 2)} (${num(low, 2)} to ${num(high, 2)}); ${short} of ${sent} without making the answer`,
  );
}
