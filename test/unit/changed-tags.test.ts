import { describe, expect, it } from 'vitest';
import { createTagReader } from '../../services/elasticsearch/tag-reader.ts';
import { createTagTerm, type TagTerm } from '../../services/elasticsearch/tag-term.ts';
import type { ChangedTagsStore } from '../../shared/read-index/changed-tags.ts';
import { createMemoryChangedTags, type MemoryChangedTags } from '../support/memory-changed-tags.ts';

const turn = () => new Promise((resolve) => setImmediate(resolve));

type Leader = {
  readonly term: TagTerm;
  readonly stopping: AbortController;
  /** Epoch of the newest claim in the log. */
  newest: number;
  /** Notes a change that its graph has applied. */
  note(position: bigint, tags: readonly string[]): void;
  /** The same, and waits until a document may show it. */
  change(position: bigint, ...tags: readonly string[]): Promise<void>;
};

function createLeader(
  store: Pick<ChangedTagsStore, 'glance' | 'latest' | 'replace'>,
  epoch: number,
  position = 10n,
): Leader {
  const stopping = new AbortController();
  let applied = position;
  const leader: Leader = {
    stopping,
    newest: epoch,
    term: createTagTerm({
      store,
      epoch,
      isNewest: async (asked) => leader.newest <= asked,
      position: () => applied,
      signal: stopping.signal,
      report: { info() {}, warn() {}, error() {} },
    }),
    note(at, tags) {
      applied = at;
      leader.term.note(at, tags);
    },
    async change(at, ...tags) {
      leader.note(at, tags);
      await leader.term.written(at);
    },
  };
  return leader;
}

async function leading(store: MemoryChangedTags, epoch: number, position = 10n): Promise<Leader> {
  const leader = createLeader(store, epoch, position);
  await leader.term.begin();
  await leader.term.open('set');
  store.announced = position;
  return leader;
}

async function looked(store: ChangedTagsStore, shown = 0n) {
  const tags = createTagReader({ store, shown: () => shown });
  await tags.look();
  return tags;
}

/** Returns true if a promise is settled after one turn of the event loop. */
async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  let settled = false;
  const settle = () => {
    settled = true;
  };
  promise.then(settle, settle);
  await turn();
  return settled;
}

describe('a term of tags', () => {
  it('lets documents wait until the tags of their changes can be read', async () => {
    const store = createMemoryChangedTags();
    const leader = await leading(store, 1);
    const held = Promise.withResolvers<void>();
    store.hold(held.promise);
    leader.note(11n, ['a']);
    const written = leader.term.written(11n);
    expect(await isSettled(written)).toBe(false);
    held.resolve();
    await written;
    expect((await looked(store)).isUnchanged(['a'], 10n)).toBe(false);
  });

  it('lets documents wait for changes that are not noted yet, and for those without tags', async () => {
    const { term } = await leading(createMemoryChangedTags(), 1);
    const written = term.written(12n);
    term.note(11n, ['a']);
    await term.written(11n);
    expect(await isSettled(written)).toBe(false);
    term.note(12n, []);
    expect(await isSettled(written)).toBe(true);
  });

  it('reports which tags changed since a position, and nothing about earlier changes', async () => {
    const store = createMemoryChangedTags();
    const leader = await leading(store, 1);
    await leader.change(11n, 'a', 'b');
    await leader.change(12n, 'b');
    const tags = await looked(store);
    expect(['a', 'b', 'c'].map((tag) => tags.isUnchanged([tag], 11n))).toEqual([true, false, true]);
    expect(tags.isUnchanged(['c'], 9n)).toBe(false);
  });

  it('ends for a leader that was paused, whose documents are not written after that', async () => {
    const store = createMemoryChangedTags();
    const paused = await leading(store, 1);
    const next = await leading(store, 2, 20n);
    paused.newest = 2;
    paused.note(21n, ['a']);
    await expect(paused.term.written(21n)).rejects.toThrow('another process');
    const tags = await looked(store);
    expect([tags.term(1, 'set'), tags.term(2, 'set') === undefined]).toEqual([undefined, false]);
    await next.change(21n, 'a');
    await tags.look();
    expect(tags.isUnchanged(['a'], 20n)).toBe(false);
  });

  it('does not begin for a leader that was paused before it began', async () => {
    const store = createMemoryChangedTags();
    await leading(store, 2);
    const late = createLeader(store, 1);
    late.newest = 2;
    expect(await late.term.begin()).toBe(false);
    expect((await looked(store)).term(2, 'set')).toBeDefined();
  });

  it('accepts no answers from before the newest change that the previous leader has noted', async () => {
    const store = createMemoryChangedTags();
    const before = await leading(store, 1);
    await before.change(15n, 'a');
    // The next leader's graph has not applied the change of the former leader.
    const next = await leading(store, 2, 12n);
    const tags = await looked(store);
    expect(tags.term(2, 'set')).toBeUndefined();
    next.note(14n, []);
    next.note(15n, ['a']);
    await next.change(16n, 'b');
    await tags.look();
    expect(tags.term(2, 'set')).toBeDefined();
    expect([tags.isUnchanged(['a'], 14n), tags.isUnchanged(['a'], 16n)]).toEqual([false, true]);
  });

  it('begins again after a request that failed and took effect', async () => {
    const store = createMemoryChangedTags();
    const leader = await leading(store, 1);
    const tags = await looked(store);
    const before = tags.term(1, 'set');
    store.fail('after');
    await leader.change(11n, 'a');
    await tags.look();
    expect(tags.term(1, 'set')).not.toBe(before);
    expect(tags.isUnchanged(['b'], 10n)).toBe(false);
    await leader.change(12n, 'a');
    await tags.look();
    expect([tags.isUnchanged(['a'], 11n), tags.isUnchanged(['b'], 11n)]).toEqual([false, true]);
  });

  it('continues after a request that failed without effect', async () => {
    const store = createMemoryChangedTags();
    const leader = await leading(store, 1);
    const tags = await looked(store);
    const before = tags.term(1, 'set');
    store.fail('before');
    await leader.change(11n, 'a');
    await tags.look();
    expect([tags.term(1, 'set'), tags.isUnchanged(['a'], 10n)]).toEqual([before, false]);
  });

  it('begins again after its index was deleted', async () => {
    const store = createMemoryChangedTags();
    const leader = await leading(store, 1);
    const tags = await looked(store);
    const before = tags.term(1, 'set');
    store.remove();
    await tags.look();
    expect(tags.term(1, 'set')).toBeUndefined();
    await leader.change(11n, 'a');
    await tags.look();
    expect([undefined, before]).not.toContain(tags.term(1, 'set'));
  });

  it('begins again before documents that are written long after their tags, if its index was restored', async () => {
    const store = createMemoryChangedTags();
    const leader = await leading(store, 1);
    const restore = store.snapshot();
    await leader.change(11n, 'a');
    restore();
    const tags = await looked(store);
    expect(tags.isUnchanged(['a'], 10n)).toBe(true);
    await leader.term.written(11n);
    await tags.look();
    expect([10n, 11n].map((position) => tags.isUnchanged(['a'], position))).toEqual([false, true]);
  });

  it('lets documents wait while a refusal lasts', async () => {
    const store = createMemoryChangedTags();
    let refused = 0;
    const refusing: MemoryChangedTags = {
      ...store,
      async replace(version, state) {
        if (state.number === 0 || refused === 2) return store.replace(version, state);
        refused++;
        throw new Error('blocked');
      },
    };
    const leader = await leading(refusing, 1);
    store.announced = 10n;
    await leader.change(11n, 'a');
    expect(refused).toBe(2);
    expect((await looked(store)).isUnchanged(['a'], 10n)).toBe(false);
  });

  it('is over when a leader without tags begins', async () => {
    const store = createMemoryChangedTags();
    await leading(store, 1);
    const plain = createLeader(store, 2);
    await plain.term.begin();
    await plain.term.written(99n);
    const tags = await looked(store);
    expect([1, 2].map((epoch) => tags.term(epoch, 'set'))).toEqual([undefined, undefined]);
    expect(tags.isUnchanged(['a'], 10n)).toBe(false);
  });

  it('notes nothing in an index set that has refused a document, for later leaders too', async () => {
    const store = createMemoryChangedTags();
    const leader = await leading(store, 1);
    await leader.term.cease('set');
    await leader.term.written(99n);
    const next = await leading(store, 2);
    const tags = await looked(store);
    expect(tags.term(2, 'set')).toBeUndefined();
    await next.term.open('other set');
    await tags.look();
    expect(tags.term(2, 'other set')).toBeDefined();
  });

  it('lets documents wait while it is being closed', async () => {
    const store = createMemoryChangedTags();
    const { term } = await leading(store, 1);
    const held = Promise.withResolvers<void>();
    store.hold(held.promise);
    const ceased = term.cease('set');
    const written = term.written(10n);
    expect(await isSettled(written)).toBe(false);
    held.resolve();
    await Promise.all([ceased, written]);
    expect((await looked(store)).term(1, 'set')).toBeUndefined();
  });

  it('lets documents that waited for their tags wait while it is being closed', async () => {
    const store = createMemoryChangedTags();
    const { term, note } = await leading(store, 1);
    const [noting, ceasing] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    store.hold(noting.promise);
    note(11n, ['a']);
    const written = term.written(11n);
    await turn();
    const ceased = term.cease('set');
    store.hold(ceasing.promise);
    noting.resolve();
    expect(await isSettled(written)).toBe(false);
    ceasing.resolve();
    await Promise.all([ceased, written]);
  });

  it('is noted by a process that hands over, until another process begins: then its documents wait for nothing', async () => {
    const store = createMemoryChangedTags();
    const leader = await leading(store, 1);
    leader.term.release();
    const written = leader.term.written(11n);
    expect(await isSettled(written)).toBe(false);
    leader.note(11n, ['a']);
    await written;
    leader.newest = 2;
    await createLeader(store, 2).term.begin();
    await leader.change(12n, 'a');
    await leader.term.written(99n);
  });

  it('ends waits when the process stops writing', async () => {
    const leader = await leading(createMemoryChangedTags(), 1);
    const written = leader.term.written(99n);
    leader.stopping.abort();
    await expect(written).rejects.toThrow('no longer writes');
  });

  it('forgets the oldest changes when there are too many for one state', async () => {
    const store = createMemoryChangedTags();
    const leader = await leading(store, 1);
    const many = (n: number) => Array.from({ length: 400 }, (_, i) => `${n} ${i}`);
    for (const n of [11, 12, 13]) leader.note(BigInt(n), many(n));
    await leader.term.written(13n);
    const tags = await looked(store);
    expect([tags.isUnchanged(['x'], 10n), tags.isUnchanged(['x'], 11n)]).toEqual([false, true]);
    expect(tags.isUnchanged(['12 0'], 11n)).toBe(false);
  });
});

describe('tags that are read', () => {
  it('are read again for a caller that came during a read', async () => {
    const store = createMemoryChangedTags();
    const leader = await leading(store, 1);
    const tags = await looked(store);
    const held = Promise.withResolvers<void>();
    const { glance } = store;
    // The answer is delayed, so it shows the state of the time when it was requested.
    store.glance = async () => {
      const answer = await glance();
      await held.promise;
      return answer;
    };
    const first = tags.look();
    await turn();
    await leader.change(11n, 'a');
    const second = tags.look();
    held.resolve();
    await first;
    expect(tags.isUnchanged(['a'], 10n)).toBe(true);
    await second;
    expect(tags.isUnchanged(['a'], 10n)).toBe(false);
  });

  it('know nothing about the time before changes that were forgotten between two reads', async () => {
    const store = createMemoryChangedTags();
    const leader = await leading(store, 1);
    const tags = await looked(store);
    const many = (n: number) => Array.from({ length: 400 }, (_, i) => `${n} ${i}`);
    for (const n of [11, 12, 13]) await leader.change(BigInt(n), ...many(n));
    await tags.look();
    expect([10n, 11n].map((position) => tags.isUnchanged(['11 0'], position))).toEqual([false, true]);
    expect([11n, 12n].map((position) => tags.isUnchanged(['12 0'], position))).toEqual([false, true]);
  });

  it.each([
    ['the leader has announced more', 11n, 0n],
    ['searches have shown more here', 10n, 11n],
  ])('do not count when they are older than what searches show: %s', async (_, announced, shown) => {
    const store = createMemoryChangedTags();
    const leader = await leading(store, 1);
    const restore = store.snapshot();
    await leader.change(11n, 'a');
    store.announced = announced;
    restore();
    const tags = await looked(store, shown);
    expect([tags.term(1, 'set'), tags.isUnchanged(['a'], 10n)]).toEqual([undefined, false]);
    await leader.change(12n, 'b');
    await tags.look();
    expect([tags.isUnchanged(['a'], 10n), tags.isUnchanged(['a'], 12n)]).toEqual([false, true]);
  });

  it('are valid for one index set and one epoch only', async () => {
    const store = createMemoryChangedTags();
    await leading(store, 1);
    const tags = await looked(store);
    expect(tags.term(1, 'set')).toBeDefined();
    expect([tags.term(2, 'set'), tags.term(1, 'other set')]).toEqual([undefined, undefined]);
  });

  it('are forgotten when there are too many', async () => {
    const store = createMemoryChangedTags();
    const leader = await leading(store, 1);
    const tags = createTagReader({ store, shown: () => 0n, mostTags: 2 });
    await tags.look();
    await leader.change(11n, 'a', 'b');
    await leader.change(12n, 'c');
    await tags.look();
    expect([11n, 12n].map((position) => tags.isUnchanged(['x'], position))).toEqual([false, true]);
  });
});
