import { expect, it } from 'vitest';
import { createLeadTags, type LeadTagsOptions } from '../../services/elasticsearch/lead-tags.ts';
import { createTagFeed } from '../../services/elasticsearch/tag-feed.ts';
import { createTagReader } from '../../services/elasticsearch/tag-reader.ts';
import { nameOfSet } from '../../shared/read-index/index-set.ts';
import { createMemoryChangedTags } from '../support/memory-changed-tags.ts';

const SET = { things: 'things-1' };
const LIVE = { kind: 'live' } as const;
const turn = () => new Promise((resolve) => setImmediate(resolve));

/** Creates a process that writes documents of `SET`, and one that reads the tags. */
function openSetting(
  epoch: number,
  more: Partial<Pick<LeadTagsOptions, 'indices'>> & { readonly isPurging?: boolean } = {},
  store = createMemoryChangedTags(),
) {
  const { indices = LIVE, isPurging = true } = more;
  const tagFeed = createTagFeed();
  const note = isPurging ? tagFeed.begin() : undefined;
  const parked: object[] = [];
  const warnings: string[] = [];
  let position = 10n;
  store.announced = 10n;
  const partial = {
    cluster: { changedTags: () => store, indices: { get: () => SET } },
    graph: { position: () => position },
    stale: { parked: { all: () => parked } },
    log: 'log',
    isNewest: async () => true,
    report: { info() {}, warn: (_: object, message: string) => warnings.push(message), error() {} },
  };
  const options = { ...partial, epoch, indices, tagFeed, signal: new AbortController().signal };
  const tags = createLeadTags(options as unknown as LeadTagsOptions);
  const reader = createTagReader({ store, shown: () => 0n });
  return {
    ...{ store, tags, parked, warnings },
    note(at: bigint, ...all: readonly string[]) {
      position = at;
      note?.(at, all);
    },
    /** Returns the term that other processes know. */
    async term() {
      await reader.look();
      return reader.term(epoch, nameOfSet(SET));
    },
  };
}

async function lead(epoch = 1, more: Parameters<typeof openSetting>[1] = {}) {
  const setting = openSetting(epoch, more);
  await setting.tags.begin();
  await setting.tags.open();
  return setting;
}

it('a leader that purges notes tags, another one does not', async () => {
  expect(await (await lead()).term()).toBeDefined();
  expect(await (await lead(1, { isPurging: false })).term()).toBeUndefined();
});

it('a refused document ends the tags of its indices, and the log says so once', async () => {
  const setting = await lead();
  setting.tags.refused();
  setting.tags.refused();
  await setting.tags.written(10n);
  expect([await setting.term(), setting.warnings.length]).toEqual([undefined, 1]);
  setting.note(11n, 'a');
  await setting.tags.written(11n);
  expect(await setting.term()).toBeUndefined();
});

it('a leader that finds refused documents notes no tags', async () => {
  const setting = openSetting(1);
  setting.parked.push({});
  await setting.tags.begin();
  await setting.tags.open();
  await setting.tags.written(10n);
  expect(await setting.term()).toBeUndefined();
});

it('documents that are made again end the tags until all of them are shown', async () => {
  const setting = await lead();
  const before = await setting.term();
  const shown = [Promise.withResolvers<void>(), Promise.withResolvers<void>()] as const;
  const continues = [];
  for (const { promise } of shown) continues.push(await setting.tags.cease(() => promise));
  expect(await setting.term()).toBeUndefined();
  for (const next of continues) next();
  await setting.tags.open();
  shown[0].resolve();
  await turn();
  expect(await setting.term()).toBeUndefined();
  shown[1].resolve();
  await turn();
  expect([undefined, before]).not.toContain(await setting.term());
});

it('a process that writes the next indices waits for the tags of the leader', async () => {
  const leader = await lead(3);
  const next = openSetting(0, { indices: { kind: 'next' } as never }, leader.store);
  expect(await next.tags.begin()).toBe(true);
  expect(await leader.term()).toBeDefined();
  await next.tags.written(10n);
  let isWritten = false;
  const written = next.tags.written(11n).then(() => {
    isWritten = true;
  });
  await turn();
  expect(isWritten).toBe(false);
  leader.note(11n, 'a');
  await written;
  await leader.tags.cease(async () => {});
  await next.tags.written(99n);
});

it('a process that writes documents without a leader ends the tags of the last one', async () => {
  const leader = await lead(3);
  const alone = openSetting(0, { indices: { kind: 'other', set: SET } }, leader.store);
  expect(await alone.tags.begin()).toBe(true);
  await alone.tags.open();
  await alone.tags.written(99n);
  expect(await leader.term()).toBeUndefined();
});
