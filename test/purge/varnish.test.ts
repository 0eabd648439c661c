import { setTimeout as delay } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { freePort } from '../support/elasticsearch-node.ts';
import { sampleOf } from '../support/metrics-client.ts';
import { createDataDirectory, type RunningServer, startServer } from '../support/server.ts';
import { longWithVarnish, startVarnish, type Varnish } from '../support/varnish.ts';

/** How often Varve is killed, and Varnish is stopped for a time. */
const KILLS = Number(process.env['PURGE_KILLS'] ?? 3);
const STOPS = Number(process.env['PURGE_STOPS'] ?? 2);
const STOP_MS = Number(process.env['PURGE_STOP_MS'] ?? 1_000);
const DOCUMENTS = Number(process.env['PURGE_DOCUMENTS'] ?? 50);
/** Milliseconds of reads and edits without faults. */
const LOAD_MS = Number(process.env['PURGE_LOAD_MS'] ?? 3_000);
const READS_A_SECOND = Number(process.env['PURGE_READS'] ?? 400);
const EDITS_A_SECOND = Number(process.env['PURGE_EDITS'] ?? 5);
const TIMEOUT_MS = 600_000 + KILLS * 20_000 + STOPS * 20_000 + LOAD_MS;

type Site = {
  readonly varnish: Varnish;
  readonly server: () => RunningServer;
  restart(): Promise<void>;
  readonly documents: readonly string[];
  /** Paths that readers ask for. */
  readonly paths: readonly string[];
};

async function startSite(): Promise<Site> {
  const [port, front] = [await freePort(), await freePort()];
  const data = createDataDirectory();
  const args = ['--port', String(port), '--cache-tags', 'varnish'];
  const start = () =>
    startServer({ data, arguments: [...args, '--purge', `varnish=http://127.0.0.1:${front}/`] });
  let server = await start();
  onTestFinished(() => server.dispose());
  const varnish = await startVarnish(front, port);
  onTestFinished(varnish.stop);
  const documents: string[] = [];
  for (let n = 0; n < DOCUMENTS; n++) documents.push(await write(server.url, `d${n}-0`));
  const lists = ['?sort=key', '?pagination[pageSize]=5&sort=key', '?filters[key][$startsWith]=d1'];
  const site = {
    varnish,
    server: () => server,
    async restart() {
      await server.stop('SIGKILL');
      server = await start();
    },
    documents,
    paths: [...documents.map((id) => `/api/tags/${id}`), ...lists.map((query) => `/api/tags${query}`)],
  };
  await atRest(site);
  return site;
}

/** Repeats a write until it is acknowledged. */
async function write(url: string, key: string, documentId?: string): Promise<string> {
  const path = documentId === undefined ? '' : `/${documentId}`;
  const id = crypto.randomUUID();
  for (;;) {
    try {
      const answer = await fetch(`${url}/api/tags${path}`, {
        method: documentId === undefined ? 'POST' : 'PUT',
        headers: { 'content-type': 'application/json', 'idempotency-key': id },
        body: JSON.stringify({ data: { key } }),
      });
      const { data } = (await answer.json()) as { data?: { documentId: string } };
      if (answer.ok && data !== undefined) return data.documentId;
    } catch {
      // The server is being started again.
    }
    await delay(20);
  }
}

/** Resolves when Varnish has confirmed every purge. */
async function atRest({ server }: Site): Promise<void> {
  const waiting = async () => {
    const text = await (await fetch(`${server().url}/metrics`)).text();
    return sampleOf(text, 'varve_purge_changes_waiting', { receiver: 'varnish' });
  };
  await expect.poll(waiting, { timeout: 60_000 }).toBe(0);
}

/** What Varnish serves is what Varve answers, for every path. */
async function expectNothingStale(site: Site): Promise<void> {
  await atRest(site);
  for (const path of site.paths) {
    const [cached, now] = await Promise.all(
      [site.varnish.url, site.server().url].map((url) => answerOf(url + path)),
    );
    expect(cached, path).toBe(now);
  }
}

/** Varnish answers 503 where a connection of a killed server breaks. That is not stale. */
async function answerOf(url: string): Promise<string> {
  for (;;) {
    const answer = await fetch(url);
    const text = await answer.text();
    if (answer.status !== 503) return text;
    await delay(50);
  }
}

/** Reads random paths through Varnish until it is stopped, and reports what the reads found. */
function startReaders({ varnish, paths }: Site) {
  let [isDone, hits, misses] = [false, 0, 0];
  const seen: { readonly path: string; readonly asked: number; readonly key: string }[] = [];
  const read = async () => {
    while (!isDone) {
      const path = paths[Math.floor(Math.random() * paths.length)] ?? '';
      const asked = performance.now();
      const answer = await fetch(varnish.url + path).catch(() => undefined);
      const text = (await answer?.text().catch(() => '')) ?? '';
      if (answer?.headers.get('x-cache') === 'hit') hits += 1;
      else misses += 1;
      const key = /"key":"([^"]*)"/.exec(text)?.[1];
      if (answer?.ok === true && key !== undefined) seen.push({ path, asked, key });
      await delay(Math.random() * 2 * (4_000 / READS_A_SECOND));
    }
  };
  const running = Promise.all(Array.from({ length: 4 }, read));
  return {
    seen,
    async stop() {
      isDone = true;
      await running;
      return { hits, misses };
    },
  };
}

/** Edits documents for a time; resolves with when each edit was acknowledged. */
async function edit({ server, documents }: Site, ms: number) {
  const acknowledged: { readonly path: string; readonly key: string; readonly at: number }[] = [];
  const until = performance.now() + ms;
  for (let n = 1; performance.now() < until; n++) {
    const id = documents[Math.floor(Math.random() * documents.length)] ?? '';
    const key = `d${documents.indexOf(id)}-${n}-${Math.random()}`;
    await write(server().url, key, id);
    acknowledged.push({ path: `/api/tags/${id}`, key, at: performance.now() });
    await delay(1_000 / EDITS_A_SECOND);
  }
  return acknowledged;
}

it('serves from Varnish, and nothing stale once it has caught up', {
  ...longWithVarnish('reads and edits through Varnish'),
  timeout: TIMEOUT_MS,
}, async () => {
  const site = await startSite();
  const readers = startReaders(site);
  const edits = await edit(site, LOAD_MS);
  const { hits, misses } = await readers.stop();
  await expectNothingStale(site);
  // For each edit: how long reads began that still found an earlier one.
  const staleness = edits.map(({ path, at, key }, n) => {
    const next = edits.slice(n + 1).find((other) => other.path === path)?.at ?? Number.POSITIVE_INFINITY;
    const old = readers.seen.filter(
      (one) => one.path === path && one.asked > at && one.asked < next && one.key !== key,
    );
    return Math.max(
      0,
      ...old.filter(({ key: k }) => edits.findIndex((e) => e.key === k) < n).map((one) => one.asked - at),
    );
  });
  staleness.sort((a, b) => a - b);
  const p99 = staleness[Math.floor(staleness.length * 0.99)] ?? 0;
  console.log(
    `${hits + misses} reads, ${edits.length} edits: ${((100 * hits) / (hits + misses)).toFixed(1)} % hits, stale p99 ${p99.toFixed(0)} ms`,
  );
  expect(hits).toBeGreaterThan(0);
  // The same answer is served again without Varve.
  const [path = ''] = site.paths;
  await fetch(site.varnish.url + path);
  expect((await fetch(site.varnish.url + path)).headers.get('x-cache')).toBe('hit');
});

it(`loses no purge while Varve is killed ${KILLS} times and Varnish stops ${STOPS} times`, {
  ...longWithVarnish('kills of Varve behind Varnish'),
  timeout: TIMEOUT_MS,
}, async () => {
  const site = await startSite();
  const readers = startReaders(site);
  for (let kill = 0; kill < KILLS; kill++) {
    const edits = edit(site, 600);
    await delay(Math.random() * 400);
    await site.restart();
    await edits;
    await expectNothingStale(site);
  }
  for (let stop = 0; stop < STOPS; stop++) {
    const edits = edit(site, STOP_MS / 2);
    site.varnish.signal('SIGSTOP');
    await delay(STOP_MS);
    site.varnish.signal('SIGCONT');
    await edits;
    await expectNothingStale(site);
  }
  await readers.stop();
});
