import { expect, it, onTestFinished, vi } from 'vitest';
import { type Lane, type StaleRow, staleNumber } from '../../projections/graph/stale/stale-rows.ts';
import { type Batch, nextBatch, release, sendBatch, type Work } from '../../projections/index-writer/lane.ts';
import type { VarveEvent } from '../../shared/document/events.ts';
import { changed, connect, created, deleted } from './graph-fixture.ts';
import { openSetting, SOME, wanted } from './writer-fixture.ts';

it('writes every document that is stale, and a write is visible with all that embed it', async () => {
  const setting = openSetting();
  setting.given(...SOME);
  const writer = setting.start();
  await writer.caughtUp();
  expect(setting.index.visible).toEqual(wanted(setting));
  expect(setting.index.visible.size).toBeGreaterThan(4);

  const position = setting.given(changed('country', 'fr', { values: { name: 'Frankreich' } }));
  await writer.visible(position);
  expect(setting.index.visible).toEqual(wanted(setting));
  expect([...setting.index.visible.values()].filter((text) => text.includes('Frankreich')).length).toBe(
    // The country in both worlds, and the drafts of Anna and of the restaurants, which are two links away.
    2 + 3,
  );
  await writer.visible(setting.given(deleted('restaurant', 'r2')));
  expect(setting.index.visible).toEqual(wanted(setting));
  expect(writer.status()).toMatchObject({ backlog: 0, oldestSeconds: 0, refused: 0 });
});

it('retries failed requests and failed documents until they are written', async () => {
  const setting = openSetting();
  setting.given(...SOME);
  let failures = 3;
  let passing = 4;
  setting.index.behave({
    fails: () => (failures-- > 0 ? new Error('no connection') : undefined),
    outcome: () => (passing-- > 0 ? { kind: 'again', reason: 'too many requests' } : undefined),
    accepts: () => false,
  });
  const writer = setting.start();
  await writer.visible(setting.graph.position());
  await writer.caughtUp();
  expect(setting.index.visible).toEqual(wanted(setting));
  expect(setting.reports.map(({ kind }) => kind)).toEqual(expect.arrayContaining(['stuck', 'recovered']));
  expect(failures).toBeLessThanOrEqual(0);
  expect(passing).toBeLessThanOrEqual(0);
});

it('parks a refused document with the reason, and writes it again with its next change', async () => {
  const setting = openSetting();
  setting.given(...SOME);
  setting.index.behave({
    outcome: (_, text) => (text.includes('"Two"') ? { kind: 'refused', reason: 'no such field' } : undefined),
  });
  const writer = setting.start();
  await writer.caughtUp();
  const all = wanted(setting);
  expect(setting.index.visible.size).toBe(all.size - 1);
  expect(writer.status()).toMatchObject({ backlog: 0, refused: 1 });
  expect(setting.graph.stale?.parked.list()).toMatchObject([{ world: 'draft', reason: 'no such field' }]);
  expect(setting.reports).toMatchObject([
    { kind: 'refused', documents: [{ type: 'api::restaurant.restaurant', reason: 'no such field' }] },
  ]);
  await writer.visible(setting.given(changed('restaurant', 'r2', { values: { name: 'Zwei' } })));
  expect(setting.index.visible).toEqual(wanted(setting));
  expect(writer.status().refused).toBe(0);
});

/** Starts a writer of 1,200 restaurants of one chef. When all are written, requests of the backlog wait until `answer` is called. */
async function withHeldBacklog() {
  const setting = openSetting();
  const many = Array.from({ length: 1_200 }, (_, i) =>
    created('restaurant', `m${i}`, { values: { name: `m${i}` }, relations: [connect('chef', 'anna')] }),
  );
  setting.given(...SOME, ...many);
  const writer = setting.start();
  await writer.caughtUp();
  const { promise, resolve: answer } = Promise.withResolvers<void>();
  setting.index.behave({ before: (names) => (names.length > 100 ? promise : Promise.resolve()) });
  return { setting, writer, answer };
}

it('writes edited documents before the backlog, of any size', async () => {
  // The backlog's requests are only answered when the edit is visible.
  const { setting, writer, answer } = await withHeldBacklog();
  const countrys = setting.graph.position() + 1n;
  await writer.visible(setting.given(changed('country', 'fr', { values: { name: 'Frankreich' } })));
  expect(setting.graph.position()).toBe(countrys);
  expect(writer.status().backlog).toBeGreaterThan(1_000);
  await writer.visible(setting.given(changed('restaurant', 'r1', { values: { name: 'Eins' } })));
  const r1 = [...setting.index.visible.values()].filter((text) => text.includes('"Eins"'));
  expect(r1).toHaveLength(1);
  // The document was made from the current graph, so it already shows the new country.
  expect(r1[0]).toContain('Frankreich');
  expect(writer.status().backlog).toBeGreaterThan(1_000);
  answer();
  await writer.caughtUp();
  expect(setting.index.visible).toEqual(wanted(setting));
});

it('makes the deletion of a row with many referrers not wait for their documents', async () => {
  const { setting, writer, answer } = await withHeldBacklog();
  await writer.visible(setting.given(deleted('chef', 'anna')));
  expect(writer.status().backlog).toBeGreaterThan(1_000);
  answer();
  await writer.caughtUp();
  expect(setting.index.visible).toEqual(wanted(setting));
  expect(writer.status().backlog).toBe(0);
});

it.each([
  { restaurants: 100, renamed: 'copies', deleted: 'copies' },
  { restaurants: 101, renamed: 'backlog', deleted: 'copies' },
  { restaurants: 201, renamed: 'backlog', deleted: 'backlog' },
] as const)('lets a write wait for at most 100 copies and 200 links, of $restaurants', (expected) => {
  const { restaurants } = expected;
  const { graph, given } = openSetting();
  const link = { relations: [connect('chef', 'bert')] };
  const rows = Array.from({ length: restaurants }, (_, i) => created('restaurant', `m${i}`, link));
  given(created('chef', 'bert', { values: { name: 'Bert' } }), ...rows);
  const stale = graph.stale ?? expect.unreachable();
  const settled = stale.next('edits', 1_000, new Map());
  stale.settle(
    graph.position(),
    settled.map((document) => ({ document, refused: undefined })),
  );
  expect(stale.count().rows).toBe(0);
  const waiting = (lane: Lane) => stale.next(lane, 1_000, new Map()).length;
  given(changed('chef', 'bert', { values: { name: 'Berta' } }));
  expect(waiting(expected.renamed)).toBe(restaurants);
  given(deleted('chef', 'bert'));
  expect(waiting(expected.deleted)).toBe(restaurants);
});

it('lets no further write wait for its copies while 60 are waited for', () => {
  const { graph, given } = openSetting();
  const chefs = Array.from({ length: 6 }, (_, i) => `c${i}`);
  const restaurants = chefs.flatMap((chef) =>
    Array.from({ length: 25 }, (_, i) =>
      created('restaurant', `${chef}m${i}`, { relations: [connect('chef', chef)] }),
    ),
  );
  given(...chefs.map((chef) => created('chef', chef)), ...restaurants);
  const stale = graph.stale ?? expect.unreachable();
  const settle = (lane: Lane) => {
    const documents = stale.next(lane, 1_000, new Map());
    stale.settle(
      graph.position(),
      documents.map((document) => ({ document, refused: undefined })),
    );
  };
  settle('edits');
  const rename = (chef: string) => given(changed('chef', chef, { values: { name: `new ${chef}` } }));
  const waiting = (lane: Lane) => stale.next(lane, 1_000, new Map()).length;
  for (const chef of chefs.slice(0, 4)) rename(chef);
  expect([waiting('copies'), waiting('backlog')]).toEqual([75, 25]);
  // The edited row itself is always waited for.
  expect(waiting('edits')).toBe(4);
  settle('copies');
  rename('c5');
  expect([waiting('copies'), waiting('backlog')]).toEqual([25, 25]);
});

it('lets a write with many links of its own wait for the copies of its row', () => {
  const { graph, given } = openSetting();
  const tags = Array.from({ length: 300 }, (_, i) => created('tag', `t${i}`));
  const review = created('review', 'v1', { relations: [connect('restaurant', 'r1')] });
  given(...SOME, review, ...tags);
  const stale = graph.stale ?? expect.unreachable();
  for (const lane of ['edits', 'copies'] as const) {
    const settlements = stale
      .next(lane, 1_000, new Map())
      .map((document) => ({ document, refused: undefined }));
    stale.settle(graph.position(), settlements);
  }
  const relations = tags.map((_, i) => connect('tags', `t${i}`));
  given(changed('restaurant', 'r1', { values: { stars: 3 }, relations }));
  const copies = stale.next('copies', 1_000, new Map());
  expect(copies.map(({ type }) => type)).toContain('api::review.review');
  expect(stale.oldest('backlog')).toBeUndefined();
});

it('lets no edit wait for the copies of an earlier edit', async () => {
  const setting = openSetting();
  setting.given(...SOME);
  const writer = setting.start();
  await writer.caughtUp();
  // Requests with copies are held: the copies of the country are in chefs and restaurants.
  const held = Promise.withResolvers<void>();
  let holds = (names: readonly string[]) => names.some((name) => !name.startsWith('api::country'));
  setting.index.behave({ before: (names) => (holds(names) ? held.promise : Promise.resolve()) });
  let isCountryShown = false;
  const country = writer
    .visible(setting.given(changed('country', 'fr', { values: { name: 'Frankreich' } })))
    .then(() => {
      isCountryShown = true;
    });
  await expect.poll(() => setting.index.requests.filter(holds).length).toBe(2);
  holds = () => false;
  // The held copies include a row that changes now. Its change is sent anyway, and other writes do not wait for the copies.
  await writer.visible(setting.given(changed('restaurant', 'r1', { values: { name: 'Eins' } })));
  expect([...setting.index.visible.values()].filter((text) => text.includes('"Eins"'))).toHaveLength(1);
  await writer.visible(setting.given(created('tag', 't1', { values: { name: 'New' } })));
  // A copy that becomes stale again makes no write between both changes wait.
  const between = setting.given(created('tag', 't2', { values: { name: 'Newer' } }));
  setting.given(changed('country', 'fr', { values: { name: 'Francia' } }));
  await writer.visible(between);
  expect(isCountryShown).toBe(false);
  held.resolve();
  await Promise.all([country, writer.allVisible(setting.graph.position())]);
  expect(setting.index.visible).toEqual(wanted(setting));
});

it('writes each index on its own: one that does not answer, or refuses requests, holds up no other', async () => {
  const setting = openSetting();
  setting.given(...SOME);
  const writer = setting.start();
  await writer.caughtUp();
  const held = Promise.withResolvers<void>();
  const ofRestaurants = (names: readonly string[]) => names[0]?.startsWith('api::restaurant') === true;
  setting.index.behave({ before: (names) => (ofRestaurants(names) ? held.promise : Promise.resolve()) });
  const first = setting.given(changed('restaurant', 'r1', { values: { name: 'Eins' } }));
  const isShown = vi.fn();
  void writer.visible(first).then(isShown);
  for (let i = 0; i < 5; i++) {
    await writer.visible(setting.given(created('tag', `t${i}`, { values: { name: `tag ${i}` } })));
  }
  expect(isShown).not.toHaveBeenCalled();
  held.resolve();
  await writer.visible(first);
  let isClosed = true;
  setting.index.behave({
    before: async (names) => {
      if (ofRestaurants(names) && isClosed) throw new Error('the index is closed');
    },
    accepts: () => !isClosed,
  });
  const second = setting.given(changed('restaurant', 'r2', { values: { name: 'Zwei' } }));
  await writer.visible(setting.given(created('tag', 'other', { values: { name: 'other' } })));
  await expect.poll(() => setting.reports).toMatchObject([{ kind: 'stuck', reason: 'the index is closed' }]);
  isClosed = false;
  await writer.visible(second);
  expect(setting.index.visible).toEqual(wanted(setting));
  expect(setting.reports.map(({ kind }) => kind)).toEqual(['stuck', 'recovered']);
});

it('writes only the copies that show what has changed', async () => {
  const setting = openSetting();
  const link = (name: string) => ({ relations: [connect('restaurant', name)] });
  setting.given(...SOME, created('review', 'v1', link('r1')), created('review', 'v2', link('r1')));
  const writer = setting.start();
  await writer.caughtUp();
  const writtenBy = async (event: VarveEvent) => {
    const before = setting.index.requests.length;
    setting.given(event);
    await writer.caughtUp();
    expect(setting.index.visible).toEqual(wanted(setting));
    return setting.index.requests.slice(before).flat().sort();
  };
  const own = ['api::restaurant.restaurant draft 12'];
  // Reviews copy no JSON and no private attribute of restaurants, nor the time of the change.
  expect(await writtenBy(changed('restaurant', 'r1', { values: { extra: { open: true } } }))).toEqual(own);
  expect(await writtenBy(changed('restaurant', 'r1', { values: { secret: 'x' } }))).toEqual(own);
  expect(await writtenBy(changed('restaurant', 'r1', { values: { stars: 3 } }))).toHaveLength(3);
  expect(await writtenBy(changed('restaurant', 'r1', { values: { stars: 3 } }))).toEqual(own);
});

it('sends copies of other indices when two requests have been slow for two seconds', async () => {
  const setting = openSetting();
  const article = { relations: [connect('author', 'anna')] };
  setting.given(...SOME, created('article', 'a1', article, 'en'));
  const writer = setting.start();
  await writer.caughtUp();
  const held = Promise.withResolvers<void>();
  const isCopy = (names: readonly string[]) => !names.some((name) => name.startsWith('api::country'));
  setting.index.behave({ before: (names) => (isCopy(names) ? held.promise : Promise.resolve()) });
  setting.given(changed('country', 'fr', { values: { name: 'Frankreich' } }));
  const copies = () => setting.index.requests.slice(before).filter(isCopy).length;
  const before = setting.index.requests.length;
  await expect.poll(copies).toBe(2);
  await expect.poll(copies).toBe(3);
  held.resolve();
  await writer.caughtUp();
  expect(setting.index.visible).toEqual(wanted(setting));
});

it('makes a write wait for its own document, even if the graph applied other events with it', async () => {
  const setting = openSetting();
  setting.given(...SOME);
  const writer = setting.start();
  await writer.caughtUp();
  const answered = Promise.withResolvers<void>();
  setting.index.behave({ before: () => answered.promise });
  const second = setting.given(
    changed('restaurant', 'r1', { values: { name: 'Eins' } }),
    changed('restaurant', 'r2', { values: { name: 'Zwei' } }),
  );
  const seen: string[] = [];
  const first = writer.visible(second - 1n).then(() => seen.push(...setting.index.visible.values()));
  await expect.poll(() => setting.index.requests.length).toBeGreaterThan(1);
  expect(seen).toEqual([]);
  answered.resolve();
  await first;
  expect(seen.filter((text) => text.includes('"Eins"'))).toHaveLength(1);
});

/** Creates a backlog: forty rows in both worlds, which are all stale and for which no client waits. */
function openBacklog() {
  const { graph, index, given } = openSetting();
  const names = Array.from({ length: 40 }, (_, n) => `c${n}`);
  given(...names.map((name) => created('country', name, { values: { name } })));
  const stale = graph.stale ?? expect.unreachable();
  const position = graph.position();
  const settle = (documents: readonly StaleRow[]) => {
    const settlements = documents.map((document) => ({ document, refused: undefined }));
    stale.settle(position, settlements);
  };
  settle(stale.next('edits', 1000, new Map()));
  stale.markAll([...graph.registry().contentTypes.keys()]);
  const work: Work = {
    ...{ stale, index, taken: new Map(), turn: undefined, position: graph.position, now: Date.now },
    stopSignal: new AbortController().signal,
  };
  const all = stale.next('backlog', 1000, new Map()).map(staleNumber);
  expect(all).toHaveLength(80);
  return {
    ...{ all, work, stale },
    choose: async (bytes: number) => (await nextBatch(work, 'backlog', bytes))?.batch,
    end({ documents }: Batch, isWritten: boolean) {
      if (isWritten) settle(documents);
      else work.turn = undefined;
      release(work, documents, position);
    },
  };
}

/** Returns a size limit in bytes. Limits differ, so batches have different numbers of documents. */
const sizeOf = (number: number) => 1 + (number % 5) * 150;

it('chooses documents of the backlog in order, each once, while others are being written', async () => {
  const { all, choose, end } = openBacklog();
  const chosen: number[] = [];
  const underWay: Batch[] = [];
  for (let n = 0; ; n++) {
    const batch = await choose(sizeOf(n));
    if (batch === undefined) break;
    chosen.push(...batch.documents.map(staleNumber));
    underWay.push(batch);
    if (underWay.length > 2) end(underWay.shift() as Batch, true);
  }
  expect(chosen).toEqual(all);
});

it('chooses documents that were not written again, before later ones', async () => {
  const { all, choose, end, stale } = openBacklog();
  const written: number[] = [];
  for (let n = 0; ; n++) {
    const first = await choose(sizeOf(n));
    if (first === undefined) break;
    const second = await choose(sizeOf(n + 1));
    end(first, false);
    const again = (await choose(1)) ?? expect.unreachable();
    expect(again.documents).toEqual(first.documents.slice(0, 1));
    for (const batch of [again, second]) {
      if (batch === undefined) continue;
      end(batch, true);
      written.push(...batch.documents.map(staleNumber));
    }
  }
  expect(written.sort((a, b) => a - b)).toEqual(all.sort((a, b) => a - b));
  expect(stale.count()).toMatchObject({ rows: 0 });
});

it('sends no batch after its deadline, nor once another process writes', async () => {
  const setting = openSetting();
  setting.given(...SOME);
  const stale = setting.graph.stale ?? expect.unreachable();
  const giveUp = new AbortController();
  let now = 1_000_000;
  const work = {
    ...{ stale, index: setting.index, taken: new Map(), turn: undefined },
    position: setting.graph.position,
    ...{ now: () => now, stopSignal: giveUp.signal, options: {} },
  };
  const next = await nextBatch(work, 'backlog', 1_000_000);
  const { batch } = (await nextBatch(work, 'edits', 1_000_000)) ?? next ?? expect.unreachable();
  expect(batch.documents.length).toBeGreaterThan(0);
  // After a pause such as SIGSTOP, another leader may have written. An index forgets deletes after an hour.
  now += 5 * 60_000;
  expect(await sendBatch(work, batch, true)).toMatchObject({ settled: [], again: expect.any(String) });
  now -= 5 * 60_000;
  giveUp.abort();
  expect(await sendBatch(work, batch, true)).toMatchObject({ settled: [], again: expect.any(String) });
  expect(setting.index.requests).toEqual([]);
});

it('counts documents that are written and not refreshed as backlog, also after a crash', async () => {
  const setting = openSetting();
  setting.given(...SOME);
  const first = setting.start();
  await first.caughtUp();
  const refreshed = Promise.withResolvers<void>();
  onTestFinished(() => refreshed.resolve());
  const held = vi.spyOn(setting.index, 'refresh').mockImplementation(() => refreshed.promise);
  setting.graph.stale?.markAll([...setting.graph.registry().contentTypes.keys()]);
  first.wake();
  const marks = () => setting.graph.stale?.count().rows;
  await expect.poll(marks).toBe(0);
  const { backlog } = first.status();
  expect(backlog).toBe(wanted(setting).size);
  refreshed.reject(new Error('killed'));
  await first.close();
  setting.reopen();
  held.mockRestore();
  const second = setting.start();
  expect(second.status().backlog).toBe(backlog);
  await second.caughtUp();
  expect(second.status().backlog).toBe(0);
});

it('continues at the same place after a crash', async () => {
  const setting = openSetting();
  setting.given(...SOME);
  setting.index.behave({ fails: () => new Error('no connection') });
  const first = setting.start();
  await expect.poll(() => setting.index.requests.length).toBeGreaterThan(0);
  await first.close();
  expect(setting.index.visible.size).toBe(0);
  setting.reopen();
  expect(setting.graph.stale?.isComplete()).toBe(true);
  setting.index.behave({});
  const second = setting.start();
  await second.caughtUp();
  expect(setting.index.visible).toEqual(wanted(setting));
});

it('detects that the graph changed without a list of stale documents, and writes all documents again', async () => {
  const setting = openSetting();
  setting.given(...SOME);
  await setting.start().caughtUp();
  setting.reopen(false);
  expect(setting.graph.stale).toBeUndefined();
  setting.reopen();
  expect(setting.graph.stale?.isComplete()).toBe(true);
  setting.reopen(false);
  setting.given(changed('restaurant', 'r1', { values: { name: 'Eins' } }));
  setting.reopen();
  expect(setting.graph.stale?.isComplete()).toBe(false);
  setting.graph.stale?.markAll([...setting.graph.registry().contentTypes.keys()]);
  await setting.start().caughtUp();
  expect(setting.index.visible).toEqual(wanted(setting));
});

it('makes all edits of one moment visible by one refresh, however many requests they take', async () => {
  const setting = openSetting();
  setting.given(...SOME);
  const writer = setting.start();
  await writer.caughtUp();
  const counts = new Set<number>();
  const count = (world: string) =>
    [...setting.index.visible].filter(([key, text]) => key.includes(` ${world} `) && text.includes('Whole '));
  setting.index.behave({
    async before() {
      for (const world of ['draft', 'published']) counts.add(count(world).length);
    },
  });
  const name = `Whole ${'x'.repeat(2_000)}`;
  const many = Array.from({ length: 200 }, (_, i) => created('tag', `t${i}`, { values: { name: name + i } }));
  const before = setting.index.requests.length;
  await writer.visible(setting.given(...many));
  expect(setting.index.requests.length - before).toBeGreaterThan(4);
  expect(['draft', 'published'].map((world) => count(world).length)).toEqual([200, 200]);
  expect([...counts].filter((seen) => seen !== 0 && seen !== 200)).toEqual([]);
  await writer.caughtUp();
  expect(setting.index.visible).toEqual(wanted(setting));
});
