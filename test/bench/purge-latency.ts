import { setTimeout as delay } from 'node:timers/promises';
import { Command } from 'commander';
import { startElasticsearchFleet } from '../support/elasticsearch-fleet.ts';
import { startReceiver } from '../support/webhook-receiver.ts';

/**
 * `node test/bench/purge-latency.ts --elasticsearch URL`: measures the time from the answer to a write to the arrival of its purge at a
 * receiver on the same machine. Searches show the write when it is answered. `varve project --purge` and `varve api` share a log in a
 * file. The aim is a p99 of 250 ms.
 */
const options = new Command()
  .requiredOption('--elasticsearch <url>', 'where Elasticsearch is')
  .option('--apis <n>', 'processes that answer reads', '2')
  .option('--edits <n>', 'edits', '500')
  .option('--rate <n>', 'edits a second', '5')
  .option('--reads <n>', 'connections that read all the time', '0')
  .parse()
  .opts<Record<'elasticsearch' | 'apis' | 'edits' | 'rate' | 'reads', string>>();

const DOCUMENTS = 50;

type Purge = { readonly at: number; readonly position: bigint; readonly tags: ReadonlySet<string> };
type Edit = { readonly tag: string; readonly position: bigint; readonly at: number };

const purges: Purge[] = [];
const receiver = await startReceiver();
receiver.answer(({ json }) => {
  const [position, tags] = [BigInt(String(json['position'])), new Set(json['tags'] as string[])];
  purges.push({ at: performance.now(), position, tags });
  return { status: 200 };
});
const fleet = await startElasticsearchFleet({
  url: options.elasticsearch,
  space: `purge_latency_${process.pid}`,
  projects: 1,
  apis: Number(options.apis),
  env: { VARVE_PURGE: `webhook=${receiver.url}`, VARVE_CACHE_TAGS: 'varnish' },
});
let isDone = false;
try {
  const ids: string[] = [];
  for (let n = 0; n < DOCUMENTS; n++) ids.push((await write('POST', '', `d${n}`)).id);
  // A new leader purges everything again after 5 s.
  await delay(8_000);
  const readers = Promise.all(Array.from({ length: Number(options.reads) }, (_, n) => read(n, ids)));
  const edits = await edit(ids);
  await delay(5_000);
  isDone = true;
  await readers;
  report(edits);
} finally {
  await fleet.dispose();
  await receiver.close();
}

function base(n: number): string {
  const { apis } = fleet;
  return apis[n % apis.length]?.server().url ?? '';
}

async function write(method: 'POST' | 'PUT', id: string, key: string) {
  const answer = await fetch(`${base(0)}/api/tags${id && `/${id}`}`, {
    method,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ data: { key } }),
  });
  if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`);
  const { data } = (await answer.json()) as { readonly data: { readonly documentId: string } };
  return { id: data.documentId, position: BigInt(answer.headers.get('varve-position') ?? 0) };
}

async function read(n: number, ids: readonly string[]): Promise<void> {
  for (let i = n; !isDone; i++) {
    const answer = await fetch(`${base(i)}/api/tags/${ids[i % ids.length]}`);
    await answer.arrayBuffer();
  }
}

/** Edits at a constant rate, without waiting for purges. */
async function edit(ids: readonly string[]): Promise<readonly Edit[]> {
  const running: Promise<Edit>[] = [];
  for (let n = 0; n < Number(options.edits); n++) {
    const id = ids[n % ids.length] ?? '';
    running.push(
      write('PUT', id, `edit ${n}`).then(({ position }) => ({
        tag: `tags:${id}`,
        position,
        at: performance.now(),
      })),
    );
    await delay((1_000 / Number(options.rate)) * (0.5 + Math.random()));
  }
  return Promise.all(running);
}

function report(edits: readonly Edit[]): void {
  const times = edits.map(({ tag, position, at }) => {
    const purge = purges.find((one) => one.position >= position && one.tags.has(tag));
    return purge === undefined ? Number.POSITIVE_INFINITY : Math.max(0, purge.at - at);
  });
  times.sort((a, b) => a - b);
  const at = (share: number) => `${(times[Math.floor((times.length - 1) * share)] ?? 0).toFixed(0)} ms`;
  console.log(
    `${times.length} edits: p50 ${at(0.5)}, p90 ${at(0.9)}, p99 ${at(0.99)}, max ${at(1)}; ${purges.length} purges`,
  );
}
