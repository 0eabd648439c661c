import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { listSearches, type SearchOrder } from '../../../services/searches/list-searches.ts';
import { dayOf, openSearchLog, type SearchLog } from '../../../services/searches/open-search-log.ts';
import { searchId } from '../../../services/searches/pending-searches.ts';
import { MOST_A_DAY, openSearchLogStore } from '../../../services/searches/search-log-store.ts';
import type { ReadIndex, SearchRequest, SearchResult } from '../../../shared/read-index/read-index.ts';
import { USER_TYPE } from '../../../shared/schema/content-type.ts';

const DAY_MS = 86_400_000;
const TODAY = 20_000;
const KEY = Buffer.from('a key');
const TYPE = 'api::product.product';

let folder: string;
let time: number;
const failures: unknown[] = [];
const open: SearchLog[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'varve-searches-'));
  time = TODAY * DAY_MS + 1_000;
  failures.length = 0;
});
afterEach(async () => {
  for (const log of open.splice(0)) await log.close();
  rmSync(folder, { recursive: true });
  expect(failures).toEqual([]);
});

function openLog(days = 7, replaced: (file: string) => void = () => {}, key = KEY): SearchLog {
  const report = { replaced, failed: (error: unknown) => failures.push(error) };
  const log = openSearchLog({ folder, days, report, key, now: () => time, isFirst: true });
  open.push(log);
  return log;
}

const request = (query: string, others: Partial<SearchRequest> = {}): SearchRequest => ({
  type: TYPE,
  world: 'published',
  query: { kind: 'all' } as unknown as SearchRequest['query'],
  sort: [],
  from: 0,
  size: 20,
  withTotal: true,
  text: { query, locales: ['en'], typoTolerance: true, isRanked: true },
  ...others,
});

const result = (rows: number, corrected: readonly (readonly [string, string])[] = []): SearchResult => ({
  total: rows,
  hits: { rows: Array.from({ length: rows }, (_, at) => at), sources: [] },
  text: { terms: new Map(), corrected: new Map(corrected) },
});

/** An index that answers every search with the same result. `restarts`: how often it begins an answer again. */
function indexOf(found: SearchResult, restarts = 0): ReadIndex {
  return {
    search: async () => found,
    searchMany: async (requests: readonly SearchRequest[]) => requests.map(() => found),
    async answer<Answer>(work: (scope: object) => Promise<Answer>) {
      for (let i = 0; i < restarts; i++) await work({});
      return work({});
    },
  } as unknown as ReadIndex;
}

async function search(log: SearchLog, asked: SearchRequest, found = result(1), restarts = 0): Promise<void> {
  const counted = log.count(indexOf(found, restarts));
  await counted.answer((answer) => counted.search({ ...asked, answer }));
}

async function listed(log: SearchLog, order: SearchOrder = 'count', since = 0, type?: string) {
  await log.write();
  return (await listSearches(log.store, { since, type, order })).listed;
}

describe('the counts of searches', () => {
  it('add up by folded words, locale and type', async () => {
    const log = openLog();
    await search(log, request('Brass  LÁMP!'));
    await search(log, request('brass lamp'), result(0));
    await search(log, request('lomp'), result(2, [['lomp', 'lamp']]));
    await search(log, request('brass lamp', { type: 'api::other.other' }));
    await search(
      log,
      request('ラーメン', { text: { ...request('').text, query: 'Lamp', locales: ['de', 'en'] } as never }),
    );
    expect(await listed(log)).toEqual([
      {
        type: TYPE,
        locale: 'en',
        query: 'brass lamp',
        count: 2,
        none: 1,
        corrected: 0,
        correction: null,
        clicks: 0,
        position: null,
      },
      expect.objectContaining({ type: 'api::other.other', query: 'brass lamp', count: 1 }),
      expect.objectContaining({ query: 'lamp', locale: '*', count: 1 }),
      expect.objectContaining({ query: 'lomp', corrected: 1, correction: 'lomp → lamp' }),
    ]);
    expect((await listed(log, 'none')).map(({ query }) => query)).toEqual(['brass lamp']);
    expect((await listed(log, 'corrected')).map(({ query }) => query)).toEqual(['lomp']);
    expect((await listed(log, 'count', 0, 'api::other.other')).map(({ type }) => type)).toEqual([
      'api::other.other',
    ]);
    expect(await listed(log, 'count', 0, 'api::unknown.unknown')).toEqual([]);
  });

  it('have only first pages of searches by words', async () => {
    const log = openLog();
    const { text } = request('lamp');
    for (const others of [
      { from: 20 },
      { size: 0 },
      { cursor: { after: ['x'] } },
      { text: { ...text, words: { kind: 'completed', limit: 5 } } },
      { text: { ...text, query: ' …! ' } },
      { type: USER_TYPE },
    ] as Partial<SearchRequest>[])
      await search(log, request('lamp', others));
    const { text: _, ...withoutText } = request('lamp');
    await search(log, withoutText);
    await log.count(indexOf(result(1))).search(request('lamp'));
    expect(await listed(log)).toEqual([]);
    await search(log, request('lamp', { cursor: { after: null } }));
    await search(log, request('lamp', { text: { ...text, words: { kind: 'similar', limit: 5 } } as never }));
    expect(await listed(log)).toMatchObject([{ query: 'lamp', count: 2 }]);
  });

  it('count an answer once that began again, and none that failed', async () => {
    const log = openLog();
    await search(log, request('lamp'), result(1), 3);
    const counted = log.count(indexOf(result(1)));
    const failing = counted.answer(async (answer) => {
      await counted.searchMany([request('lamp', { answer }), request('chair', { answer })]);
      throw new Error('too long');
    });
    await expect(failing).rejects.toThrow('too long');
    expect(await listed(log)).toMatchObject([{ query: 'lamp', count: 1 }]);
    await counted.answer((answer) =>
      counted.searchMany(['lamp', 'chair'].map((words) => request(words, { answer }))),
    );
    expect(await listed(log)).toMatchObject([
      { query: 'lamp', count: 2 },
      { query: 'chair', count: 1 },
    ]);
  });

  it('cut long words', async () => {
    const log = openLog();
    await search(log, request('x'.repeat(512)), result(1, [['y'.repeat(300), 'z']]));
    const [one] = await listed(log);
    expect(one?.query).toHaveLength(100);
    expect(one?.correction).toHaveLength(100);
  });

  it('drop and count words beyond 10,000 in memory', async () => {
    const log = openLog();
    const counted = log.count(indexOf(result(1)));
    await counted.answer(async (answer) => {
      for (let i = 0; i < 10_003; i++) await counted.search(request(`w${i}`, { answer }));
      await counted.search(request('w0', { answer }));
    });
    await log.write();
    const { listed: rows, sums } = await listSearches(log.store, {
      since: 0,
      type: undefined,
      order: 'count',
    });
    expect(rows).toHaveLength(100);
    expect(rows[0]).toMatchObject({ query: 'w0', count: 2 });
    expect(sums).toEqual({ searches: 10_001, queries: 10_000, dropped: 3 });
  });

  it('drop and count words beyond 10,000 of a day, and still count the known ones', async () => {
    const log = openLog();
    const add = (from: number, to: number, day = TODAY) =>
      log.store.add(
        Array.from({ length: to - from }, (_, at) => {
          const searched = { type: TYPE, locale: 'en', words: `w${from + at}`, day };
          return {
            id: searchId(KEY, searched),
            searched,
            counts: { count: 2, none: 0, corrected: 0, correction: null },
          };
        }),
      );
    add(0, MOST_A_DAY - 1);
    add(MOST_A_DAY - 2, MOST_A_DAY + 3);
    add(0, 1, TODAY - 1);
    const { listed: rows, sums } = await listSearches(log.store, {
      since: TODAY,
      type: undefined,
      order: 'count',
    });
    expect(rows[0]).toMatchObject({ query: `w${MOST_A_DAY - 2}`, count: 4 });
    expect(sums).toEqual({ searches: 2 * (MOST_A_DAY + 1), queries: MOST_A_DAY, dropped: 6 });
  });

  it('list 100 words of many, also of more rows than are read at once', async () => {
    const log = openLog();
    const rows = Array.from({ length: 5_000 }, (_, at) => {
      const searched = { type: TYPE, locale: 'en', words: `w${at >> 1}`, day: TODAY - (at % 2) };
      return { id: `${at}`, searched, counts: { count: at, none: 0, corrected: 0, correction: null } };
    });
    log.store.add(rows);
    const list = await listed(log);
    expect(list).toHaveLength(100);
    expect(list.slice(0, 2)).toMatchObject([
      { query: 'w2499', count: 4_998 + 4_999 },
      { query: 'w2498', count: 4_996 + 4_997 },
    ]);
    expect((await listed(log, 'count', TODAY))[0]).toMatchObject({ query: 'w2499', count: 4_998 });
  });
});

describe('clicks', () => {
  it('count with their places, also before the search is in the file, and after midnight', async () => {
    const log = openLog();
    const id = log.idOf(request('lamp')) as string;
    expect(id).toMatch(/^[0-9a-f]{32}$/);
    log.clicked(id, [1, 4]);
    await search(log, request('lamp'));
    await log.write();
    time += DAY_MS;
    log.clicked(id, [2]);
    expect(await listed(log)).toMatchObject([{ query: 'lamp', count: 1, clicks: 3, position: 2.3 }]);
    expect(log.idOf(request('lamp'))).not.toBe(id);
    expect(log.idOf(request('lamp', { size: 0 }))).toBeUndefined();
  });

  it('wait for a search of another worker for 30 seconds, and then are forgotten', async () => {
    const [log, other] = [openLog(), openLog()];
    const id = log.idOf(request('lamp')) as string;
    log.clicked(id, [3]);
    await log.write();
    await search(other, request('lamp'));
    await other.write();
    expect(await listed(log)).toMatchObject([{ clicks: 1, position: 3 }]);
    const late = log.idOf(request('chair')) as string;
    log.clicked(late, [1]);
    time += 30_000;
    await log.write();
    await search(other, request('chair'));
    await other.write();
    expect((await listed(log)).map(({ clicks }) => clicks)).toEqual([0, 1]);
  });

  it('need an id that a search has', async () => {
    const log = openLog();
    await search(log, request('lamp'));
    for (const id of ['', 'x', 'f'.repeat(32), "' OR 1=1 --", 'F'.repeat(32)]) log.clicked(id, [1]);
    log.clicked(log.idOf(request('lamp')) as string, []);
    expect(await listed(log)).toMatchObject([{ clicks: 0, position: null }]);
  });

  it('are kept for at most 10,000 searches in memory', async () => {
    const log = openLog();
    for (let i = 0; i < 10_000; i++) log.clicked(i.toString(16).padStart(32, '0'), [1]);
    log.clicked(log.idOf(request('lamp')) as string, [1]);
    await search(log, request('lamp'));
    expect(await listed(log)).toMatchObject([{ clicks: 0 }]);
  });
});

describe('the file', () => {
  it('keeps counts for some days, and nothing of removed words', async () => {
    const log = openLog(2);
    await search(log, request('oldwords'));
    time += DAY_MS;
    await search(log, request('newwords'));
    expect((await listed(log)).map(({ query }) => query)).toEqual(['newwords', 'oldwords']);
    await log.close();
    open.length = 0;
    time += DAY_MS;
    const later = openLog(2);
    await expect.poll(() => listed(later)).toMatchObject([{ query: 'newwords' }]);
    expect(contents()).not.toContain('oldwords');
    await search(later, request('pendingwords'));
    expect(await later.clear()).toBe(1);
    expect(await listed(later)).toEqual([]);
    expect(contents()).not.toMatch(/newwords|pendingwords/);
  });

  it('gets what waits in memory ten seconds later, and at the end', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      const log = openLog();
      await search(log, request('lamp'));
      const inFile = () =>
        log.store.after({ type: '', locale: '', words: '', day: 0 }, 10).map(({ words }) => words);
      await vi.advanceTimersByTimeAsync(9_000);
      expect(inFile()).toEqual([]);
      await vi.advanceTimersByTimeAsync(1_000);
      await vi.waitFor(() => expect(inFile()).toEqual(['lamp']));
    } finally {
      vi.useRealTimers();
    }
    const [log] = open.splice(0) as [SearchLog];
    await search(log, request('chair'));
    await log.close();
    const store = openSearchLogStore(folder);
    expect(store.after({ type: '', locale: '', words: '', day: 0 }, 10).map(({ words }) => words)).toEqual([
      'chair',
      'lamp',
    ]);
    store.close();
  });

  it('is shared by workers', async () => {
    const [one, other] = [openLog(), openLog()];
    await Promise.all([search(one, request('lamp')), search(other, request('lamp'))]);
    await Promise.all([one.write(), other.write()]);
    expect(await listed(one)).toMatchObject([{ query: 'lamp', count: 2 }]);
  });

  it('counts the same words on, and new clicks, with another access key', async () => {
    await search(openLog(), request('lamp'));
    await open.pop()?.close();
    const log = openLog(7, () => {}, Buffer.from('another key'));
    await search(log, request('lamp'));
    log.clicked(log.idOf(request('lamp')) as string, [1]);
    expect(await listed(log)).toMatchObject([{ query: 'lamp', count: 2, clicks: 1 }]);
  });

  it('is made again if it is damaged', async () => {
    writeFileSync(join(folder, 'searches.db'), 'no database, but longer than the head of one'.repeat(100));
    const replaced: string[] = [];
    const log = openLog(7, (file) => replaced.push(file));
    await search(log, request('lamp'));
    expect(await listed(log)).toMatchObject([{ query: 'lamp' }]);
    expect(replaced).toEqual([join(folder, 'searches.db')]);
  });

  it('forgets what a worker answered to warm up', async () => {
    const log = openLog();
    await search(log, request('lamp'));
    log.discard();
    expect(await listed(log)).toEqual([]);
  });
});

it('counts days in UTC', () => expect(dayOf(Date.UTC(1970, 0, 2, 23, 59))).toBe(1));

function contents(): string {
  return readdirSync(folder)
    .map((file) => readFileSync(join(folder, file), 'latin1'))
    .join();
}
