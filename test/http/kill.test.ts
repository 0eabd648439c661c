import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { logAddress, openEventStore } from '../../services/stores/open-event-store.ts';
import { upcast } from '../../shared/events/upcasters.ts';
import { runVarve } from '../support/run-varve.ts';
import { createDataDirectory, type RunningServer, startServer } from '../support/server.ts';
import { count } from '../support/takes-minutes.ts';

/**
 * kill -9 in the middle of concurrent writes, again and again on one data directory. KILL_ROUNDS=500 for a full run.
 * Every write puts the same number into an attribute, a component and a shared text of one entry. A half-applied write
 * would show different numbers.
 */
const ROUNDS = Number(process.env['KILL_ROUNDS'] ?? count(5, 1));
const WRITERS = 8;
const data = createDataDirectory();
let server: RunningServer | undefined;

/** The processes of a server that are killed, in turn. A server whose worker is killed starts another one. */
const VICTIMS = ['both', 'worker', 'supervisor'] as const;
type Victim = (typeof VICTIMS)[number];

/** State of a document's writer: the numbers of its answered writes, and of its last one. */
type Ledger = {
  documentId: string | undefined;
  sent: number;
  acknowledgedDraft: number;
  acknowledgedPublished: number;
};
const ledgers = new Map<string, Ledger>();

afterAll(async () => {
  await server?.dispose();
  rmSync(data, { recursive: true, force: true });
});

it(`keeps every acknowledged write and the hash chain over ${ROUNDS} kills`, {
  timeout: ROUNDS * 20_000 + 60_000,
}, async () => {
  let acknowledged = 0;
  for (let round = 1; round <= ROUNDS; round++) {
    server ??= await startServer({ data });
    await checkEntries(server.url);
    const victim = VICTIMS[round % VICTIMS.length] as Victim;
    acknowledged += await writeUntilKilled(server, round, victim);
    if (round % 25 === 0) console.log(`${round} kills, ${acknowledged} writes acknowledged`);
    if (victim === 'worker') continue;
    expect((await server.exited).signal).toBe('SIGKILL');
    server = undefined;
  }
  expect(acknowledged).toBeGreaterThan(ROUNDS * WRITERS);
  server ??= await startServer({ data });
  await checkEntries(server.url);
  await checkRebuild(server);
  await checkLog(server);
});

/** Checks that no event is damaged, moved or missing: digests, the hash chain and the graph must agree. */
async function checkLog(running: RunningServer): Promise<void> {
  expect((await running.stop()).code).toBe(0);
  const verified = await runVarve(['verify', '--data', data]);
  expect(verified.code, verified.stdout + verified.stderr).toBe(0);
  const log = await openEventStore(logAddress({ data }), { space: 'varve', decode: upcast });
  const revisions = new Map<string, bigint>();
  let chain: string | undefined;
  for await (const events of log.readAll(0n)) {
    for (const { stream, revision, unreadable, chain: head } of events) {
      expect(unreadable, `${stream}, revision ${revision}`).toBeUndefined();
      expect(revision).toBe((revisions.get(stream) ?? -1n) + 1n);
      revisions.set(stream, revision);
      expect(head).toMatch(/^[0-9a-f]{64}$/);
      expect(head).not.toBe(chain);
      chain = head;
    }
  }
  await log.close();
}

/** Checks that a graph that is rebuilt from the log gives the same answers, including ids. */
async function checkRebuild(before: RunningServer): Promise<void> {
  const answers = await allAnswers(before.url);
  expect((await before.stop()).code).toBe(0);
  const graphFiles = readdirSync(data).filter((name) => name.startsWith('graph'));
  expect(graphFiles).not.toEqual([]);
  for (const name of graphFiles) rmSync(join(data, name));
  server = await startServer({ data });
  expect(await allAnswers(server.url)).toEqual(answers);
}

function kill(running: RunningServer, victim: Victim): void {
  if (victim === 'both') void running.stop('SIGKILL');
  else process.kill((victim === 'worker' ? running.worker() : undefined) ?? running.supervisor, 'SIGKILL');
}

/** Writers write at the same time until processes are killed. Returns the number of acknowledged writes. */
async function writeUntilKilled(running: RunningServer, round: number, victim: Victim): Promise<number> {
  let acknowledged = 0;
  const killAt = 200 + ((round * 137) % 400);
  let killed = false;
  const writers = Array.from({ length: WRITERS }, async (_unused, writer) => {
    for (let turn = 0; !killed; turn++) {
      const key = `w${writer}-${round}-${turn % 5}`;
      if (!(await writeOnce(running.url, key))) return;
      acknowledged++;
      if (acknowledged >= killAt && !killed) {
        killed = true;
        kill(running, victim);
      }
    }
  });
  await Promise.all(writers);
  return acknowledged;
}

/** Writes the document `key`. Returns false if the server is gone. */
async function writeOnce(url: string, key: string): Promise<boolean> {
  const ledger = ledgers.get(key) ?? {
    documentId: undefined,
    sent: 0,
    acknowledgedDraft: 0,
    acknowledgedPublished: 0,
  };
  ledgers.set(key, ledger);
  const number = ++ledger.sent;
  const publishes = number % 2 === 1;
  const path = `/api/restaurants${ledger.documentId === undefined ? '' : `/${ledger.documentId}`}`;
  try {
    const answer = await fetch(`${url}${path}?status=${publishes ? 'published' : 'draft'}`, {
      method: ledger.documentId === undefined ? 'POST' : 'PUT',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        data: { key, name: `${key} ${number}`, stars: number, hours: [{ day: 'mon', note: String(number) }] },
      }),
    });
    const body = (await answer.json()) as { data: { documentId: string } };
    expect(answer.ok, JSON.stringify(body)).toBe(true);
    ledger.documentId = body.data.documentId;
  } catch (error) {
    // The connection broke, so the outcome of this write is unknown.
    if (error instanceof TypeError || error instanceof SyntaxError) return false;
    throw error;
  }
  ledger.acknowledgedDraft = number;
  if (publishes) ledger.acknowledgedPublished = number;
  return true;
}

type Restaurant = {
  readonly id: number;
  readonly documentId: string;
  readonly key: string;
  readonly name: string;
  readonly stars: number;
  readonly hours: readonly { readonly note: string }[];
};

async function checkEntries(url: string): Promise<void> {
  const drafts = await allRestaurants(url, 'draft');
  const published = await allRestaurants(url, 'published');
  for (const entry of [...drafts.values(), ...published.values()]) {
    expect(entry.name, 'a half-applied entry').toBe(`${entry.key} ${entry.stars}`);
    expect(entry.hours, 'a half-applied entry').toMatchObject([{ note: String(entry.stars) }]);
  }
  for (const [key, ledger] of ledgers) {
    const [draft, live] = [drafts.get(key), published.get(key)];
    if (ledger.acknowledgedDraft > 0) expect(draft?.documentId).toBe(ledger.documentId);
    expect(draft?.stars ?? 0).toBeGreaterThanOrEqual(ledger.acknowledgedDraft);
    expect(live?.stars ?? 0).toBeGreaterThanOrEqual(ledger.acknowledgedPublished);
    expect(Math.max(draft?.stars ?? 0, live?.stars ?? 0)).toBeLessThanOrEqual(ledger.sent);
    // A write that publishes is one append: both rows have it or none.
    if (draft !== undefined && draft.stars % 2 === 1) expect(live?.stars).toBe(draft.stars);
  }
}

async function allRestaurants(url: string, status: string): Promise<ReadonlyMap<string, Restaurant>> {
  const entries = (await allPages(url, status)).flatMap((page) => page.data);
  const byKey = new Map(entries.map((entry) => [entry.key, entry]));
  expect(byKey.size, 'two documents of one key').toBe(entries.length);
  return byKey;
}

type Page = { readonly data: readonly Restaurant[]; readonly meta: { pagination: { pageCount: number } } };

async function allPages(url: string, status: string): Promise<readonly Page[]> {
  const pages: Page[] = [];
  for (let page = 1, last = 1; page <= last; page++) {
    const query = `status=${status}&populate=hours&pagination[page]=${page}&pagination[pageSize]=100`;
    const answer = await getOnLiveConnection(`${url}/api/restaurants?${query}`);
    expect(answer.status).toBe(200);
    const body = (await answer.json()) as Page;
    last = body.meta.pagination.pageCount;
    pages.push(body);
  }
  return pages;
}

/** Sends a GET. Retries while the client's pool still has connections to a killed worker. */
async function getOnLiveConnection(url: string): Promise<Response> {
  for (let tries = WRITERS; ; tries--) {
    try {
      return await fetch(url);
    } catch (error) {
      if (!(error instanceof TypeError) || tries === 0) throw error;
    }
  }
}

async function allAnswers(url: string): Promise<readonly Page[]> {
  return [...(await allPages(url, 'draft')), ...(await allPages(url, 'published'))];
}
