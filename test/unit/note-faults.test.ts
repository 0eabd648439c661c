import { expect, it, onTestFinished } from 'vitest';
import { noteFaults } from '../../services/elasticsearch/note-faults.ts';
import { watchIndices } from '../../services/elasticsearch/watch-indices.ts';
import {
  createWatchState,
  lose,
  type WatchIndicesOptions,
} from '../../services/elasticsearch/watch-state.ts';
import { createKnownFaults } from '../../shared/read-index/elasticsearch/indices/known-faults.ts';
import type { FaultKind, IndexFault } from '../../shared/read-index/index-fault.ts';
import type { Uid } from '../../shared/schema/content-type.ts';

const TYPE = 'api::tag.tag' as Uid;
const ALIAS = 'v-tag-draft';
const CONTENT = { uuid: 'u', isOpen: true, isAssigned: true, histories: 'h', nodes: 'n', operations: 5 };

/** A watch of one index. `unwritten`: positions of changes that its documents lack. */
function watchOne() {
  const graph = { at: 10n };
  const unwritten = new Set<bigint>();
  const disregarded: (readonly Uid[])[] = [];
  const faults = createKnownFaults();
  const options = {
    cluster: { watched: { aliases: new Map([[ALIAS, TYPE]]), faults } },
    graph: { position: () => graph.at },
    stale: {
      isBehind: (_type: Uid, upTo: bigint) => [...unwritten].some((position) => position <= upTo),
      disregard: (types: readonly Uid[]) => disregarded.push(types),
      disregarded: () => disregarded.at(-1) ?? [],
    },
    report: { info() {}, warn() {}, error() {} },
  };
  const state = createWatchState(options as unknown as WatchIndicesOptions);
  state.written.set(ALIAS, { index: 'v-tag-draft-1', uuid: 'u', histories: 'h', mapping: 3 });
  const observe = (isOpen: boolean) => {
    state.contents = new Map([['v-tag-draft-1', { ...CONTENT, isOpen }]]) as never;
  };
  observe(true);
  return {
    options,
    state,
    observe,
    unwritten,
    /** A change that no document shows yet. */
    change: () => unwritten.add(++graph.at),
    /** Positions count as shown without the type. */
    isDisregarded: () => disregarded.at(-1)?.includes(TYPE) === true,
    /** Compares, as the watch does every second. Returns whether reads are refused. */
    turn() {
      noteFaults(state);
      return faults.refusing(TYPE) !== undefined;
    },
    /** Disregards the type, as the watch does when all processes can know the fault. */
    published: () => state.stale.disregard([TYPE]),
  };
}

function loseOne({ state, turn, published }: ReturnType<typeof watchOne>, kind: FaultKind): void {
  lose(state, TYPE, { kind, reason: 'it is gone', refusesReads: true });
  expect(turn()).toBe(true);
  published();
}

it('shows a type that was made again only when searches show what positions have counted as shown', () => {
  const watch = watchOne();
  loseOne(watch, 'missing');
  // A write around the switch: its document is on the way.
  watch.change();
  watch.state.lost.delete(TYPE);
  expect(watch.turn()).toBe(true);
  expect(watch.isDisregarded()).toBe(false);
  // Later changes are counted, so nothing waits for them.
  watch.change();
  watch.unwritten.delete(11n);
  expect(watch.turn()).toBe(false);
});

it('shows a type that was made again at once if nothing was written around the switch', () => {
  const watch = watchOne();
  loseOne(watch, 'mapping');
  watch.state.lost.delete(TYPE);
  expect(watch.turn()).toBe(false);
  expect(watch.isDisregarded()).toBe(false);
});

it('disregards a type until documents that waited are written, and then counts it before it is shown', () => {
  const watch = watchOne();
  watch.change();
  watch.observe(false);
  expect(watch.turn()).toBe(true);
  watch.published();
  watch.observe(true);
  expect([watch.turn(), watch.isDisregarded()]).toEqual([true, true]);
  // Before the first documents are written, others have waited and counted as shown.
  watch.change();
  watch.unwritten.delete(11n);
  expect([watch.turn(), watch.isDisregarded()]).toEqual([true, false]);
  watch.change();
  watch.unwritten.delete(12n);
  expect(watch.turn()).toBe(false);
});

it('disregards a type again whose index has another fault meanwhile', () => {
  const watch = watchOne();
  loseOne(watch, 'missing');
  watch.change();
  watch.state.lost.delete(TYPE);
  expect(watch.turn()).toBe(true);
  watch.observe(false);
  expect(watch.turn()).toBe(true);
  watch.published();
  watch.observe(true);
  expect([watch.turn(), watch.isDisregarded()]).toEqual([true, true]);
});

it('begins with the types that the leader before refused, until their documents are written', async () => {
  const { options, change, unwritten, isDisregarded } = watchOne();
  const ending = new AbortController();
  onTestFinished(() => ending.abort());
  const before: IndexFault = {
    ...{ type: TYPE, kind: 'blocked', reason: 'its index is blocked', refusesReads: true },
    since: '2026-01-02T03:04:05.678Z',
  };
  let published: readonly IndexFault[] = [before, { ...before, type: 'api::gone.gone' as Uid }];
  const { watched } = options.cluster;
  const contents = new Map([
    ['v-tag-draft-1', CONTENT],
    ['v-progress', CONTENT],
  ]);
  const watch = watchIndices({
    ...options,
    signal: ending.signal,
    cluster: {
      watched: {
        ...watched,
        progressIndex: 'v-progress',
        observer: {
          contents: async () => contents,
          definitions: async () => ({ cluster: 'c', version: 1, indices: new Map() }),
          version: async () => 1,
        },
        published: {
          read: async () => published,
          async write(faults: readonly IndexFault[]) {
            published = faults;
          },
        },
        record: () => ({ async write() {} }),
      },
    },
  } as unknown as WatchIndicesOptions);
  // The block has ended, and the change that waited is not written.
  change();
  await watch.begin({ [ALIAS]: 'v-tag-draft-1' }, []);
  expect([watched.faults.refusing(TYPE), published]).toEqual([before, [before]]);
  expect(isDisregarded()).toBe(true);
  unwritten.clear();
  await watch.look();
  expect([watched.faults.refusing(TYPE), published]).toEqual([undefined, []]);
  expect(isDisregarded()).toBe(false);
});
