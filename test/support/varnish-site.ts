import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'vitest';
import { sampleOf } from './metrics-client.ts';
import type { Varnish } from './varnish.ts';

/** Varve with documents behind a Varnish that it purges. */
export type VarnishSite = {
  readonly varnish: Varnish;
  /** Returns the address of the process behind Varnish. */
  readonly url: () => string;
  /** Returns the address for writes. Default: the process behind Varnish. */
  readonly writesTo?: () => string;
  readonly documents: readonly string[];
  /** Paths that readers ask for. */
  readonly paths: readonly string[];
  /** Milliseconds after `caughtUp` for which answers from Varnish may be old. Default: 0. */
  readonly restMs?: number;
  /** Resolves when Varnish has confirmed every purge. */
  caughtUp(): Promise<void>;
};

type SiteLoad = {
  readonly reads: number;
  readonly edits: number;
  readonly ms: number;
};

type AcknowledgedEdit = { readonly path: string; readonly key: string; readonly at: number };
type SeenAnswer = {
  readonly path: string;
  readonly asked: number;
  readonly key: string;
  readonly etag: string;
};

const LISTS = ['?sort=key', '?pagination[pageSize]=5&sort=key', '?filters[key][$startsWith]=d1'];

/** Creates tags. Resolves to their ids and the paths that readers ask for. */
export async function createTags(
  url: () => string,
  count: number,
): Promise<Pick<VarnishSite, 'documents' | 'paths'>> {
  const documents: string[] = [];
  for (let n = 0; n < count; n++) documents.push(await writeTag(url, `d${n}-0`));
  const paths = [...documents.map((id) => `/api/tags/${id}`), ...LISTS.map((query) => `/api/tags${query}`)];
  return { documents, paths };
}

/** Repeats a write until it is acknowledged. */
async function writeTag(url: () => string, key: string, documentId?: string): Promise<string> {
  const path = documentId === undefined ? '' : `/${documentId}`;
  const id = crypto.randomUUID();
  for (;;) {
    try {
      const answer = await fetch(`${url()}/api/tags${path}`, {
        method: documentId === undefined ? 'POST' : 'PUT',
        headers: { 'content-type': 'application/json', 'idempotency-key': id },
        body: JSON.stringify({ data: { key } }),
      });
      const { data } = (await answer.json()) as { data?: { documentId: string } };
      if (answer.ok && data !== undefined) return data.documentId;
    } catch {
      // The server is restarting.
    }
    await delay(20);
  }
}

/** Resolves when the purging process has no change left that waits for Varnish. */
export async function untilPurged(url: () => Promise<string> | string): Promise<void> {
  const waiting = async () => {
    const text = await (await fetch(`${await url()}/metrics`)).text();
    return sampleOf(text, 'varve_purge_changes_waiting', { receiver: 'varnish' });
  };
  await expect.poll(waiting, { timeout: 60_000 }).toBe(0);
}

/** Expects that Varnish and Varve give the same answer for every path. */
export async function expectNothingStale(site: VarnishSite): Promise<void> {
  await site.caughtUp();
  const end = performance.now() + (site.restMs ?? 0);
  for (const path of site.paths) {
    for (;;) {
      const isOver = performance.now() >= end;
      const [cached, now] = await Promise.all(
        [site.varnish.url, site.url()].map((url) => answerOf(url + path)),
      );
      if (cached === now) break;
      if (isOver) expect(cached, path).toBe(now);
      await delay(100);
    }
  }
}

/** Reads until the answer is not 503. Varnish answers 503 if the connection to a killed server breaks, which is not a stale answer. */
async function answerOf(url: string): Promise<string> {
  for (;;) {
    const answer = await fetch(url);
    const text = await answer.text();
    if (answer.status !== 503) return text;
    await delay(50);
  }
}

/** Reads random paths through Varnish until it is stopped, and reports what the reads found. */
export function startReaders({ varnish, paths }: VarnishSite, readsASecond: number) {
  let [isDone, hits, misses] = [false, 0, 0];
  const seen: SeenAnswer[] = [];
  const read = async () => {
    let due = performance.now();
    while (!isDone) {
      const path = paths[Math.floor(Math.random() * paths.length)] ?? '';
      const asked = performance.now();
      const answer = await fetch(varnish.url + path).catch(() => undefined);
      const text = (await answer?.text().catch(() => '')) ?? '';
      if (answer?.headers.get('x-cache') === 'hit') hits += 1;
      else misses += 1;
      const key = /"key":"([^"]*)"/.exec(text)?.[1];
      const etag = answer?.headers.get('etag') ?? '';
      if (answer?.ok === true && key !== undefined) seen.push({ path, asked, key, etag });
      // The next time is independent of the answer's duration, so slow answers do not lower the rate.
      due += Math.random() * 2 * (READERS * (1_000 / readsASecond));
      await delay(Math.max(0, due - performance.now()));
    }
  };
  const running = Promise.all(Array.from({ length: READERS }, read));
  return {
    seen,
    async stop() {
      isDone = true;
      await running;
      return { hits, misses };
    },
  };
}

const READERS = 8;

/** Edits tags for a while. Resolves to the edits with the times at which they were acknowledged. */
export async function editTags(
  site: VarnishSite,
  { edits, ms }: Pick<SiteLoad, 'edits' | 'ms'>,
): Promise<readonly AcknowledgedEdit[]> {
  const { documents, writesTo = site.url } = site;
  const acknowledged: AcknowledgedEdit[] = [];
  const begun = performance.now();
  for (let n = 1; performance.now() < begun + ms; n++) {
    const id = documents[Math.floor(Math.random() * documents.length)] ?? '';
    const key = `d${documents.indexOf(id)}-${n}-${Math.random()}`;
    await writeTag(writesTo, key, id);
    acknowledged.push({ path: `/api/tags/${id}`, key, at: performance.now() });
    await delay(Math.max(0, begun + n * (1_000 / edits) - performance.now()));
  }
  return acknowledged;
}

/** Returns for each edit how long after it reads still began that found an earlier edit, in milliseconds, sorted. */
function stalenessOf(edits: readonly AcknowledgedEdit[], seen: readonly SeenAnswer[]): readonly number[] {
  const staleness = edits.map(({ path, at }, n) => {
    const next = edits.slice(n + 1).find((other) => other.path === path)?.at ?? Number.POSITIVE_INFINITY;
    const earlier = new Set(edits.slice(0, n).map(({ key }) => key));
    const old = seen.filter(
      (one) => one.path === path && one.asked > at && one.asked < next && isEarlier(one.key, earlier),
    );
    return Math.max(0, ...old.map((one) => one.asked - at));
  });
  return staleness.sort((a, b) => a - b);
}

/** Returns true if a key is older than an edit. Keys are d<n>-0 before the first edit. */
function isEarlier(key: string, earlier: ReadonlySet<string>): boolean {
  return earlier.has(key) || /^d\d+-0$/.test(key);
}

/**
 * Returns the best possible hit rate of a cache. It could answer every read whose answer equals the last one of the same
 * path.
 */
function bestHitRate(seen: readonly SeenAnswer[]): number {
  const last = new Map<string, string>();
  let misses = 0;
  for (const { path, etag } of seen.toSorted((a, b) => a.asked - b.asked)) {
    if (last.get(path) !== etag) misses += 1;
    last.set(path, etag);
  }
  return seen.length === 0 ? 0 : 1 - misses / seen.length;
}

/** Reads and edits for a while. Returns how many reads Varnish answered, and how stale answers were. */
export async function measureSite(site: VarnishSite, { reads, edits, ms }: SiteLoad) {
  const readers = startReaders(site, reads);
  const acknowledged = await editTags(site, { edits, ms });
  const { hits, misses } = await readers.stop();
  const staleness = stalenessOf(acknowledged, readers.seen);
  const at = (share: number) =>
    `${(staleness[Math.floor((staleness.length - 1) * share)] ?? 0).toFixed(0)} ms`;
  const percent = (share: number) => `${(100 * share).toFixed(1)} %`;
  console.log(
    `${hits + misses} reads, ${acknowledged.length} edits: ${percent(hits / (hits + misses))} hits of ${percent(bestHitRate(readers.seen))} at best, stale p50 ${at(0.5)}, p99 ${at(0.99)}, max ${at(1)}`,
  );
  return { hits, misses };
}
