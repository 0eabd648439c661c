import { expect, it } from 'vitest';
import { noteFaults } from '../../services/elasticsearch/note-faults.ts';
import {
  createWatchState,
  lose,
  type WatchIndicesOptions,
} from '../../services/elasticsearch/watch-state.ts';
import { createKnownFaults } from '../../shared/read-index/elasticsearch/indices/known-faults.ts';
import type { FaultKind } from '../../shared/read-index/index-fault.ts';
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
  const state = createWatchState({
    cluster: { watched: { aliases: new Map([[ALIAS, TYPE]]), faults } },
    graph: { position: () => graph.at },
    stale: {
      isBehind: (_type: Uid, upTo: bigint) => [...unwritten].some((position) => position <= upTo),
      disregard: (types: readonly Uid[]) => disregarded.push(types),
    },
    report: { info() {}, warn() {}, error() {} },
  } as unknown as WatchIndicesOptions);
  state.written.set(ALIAS, { index: 'v-tag-draft-1', uuid: 'u', histories: 'h', mapping: 3 });
  const observe = (isOpen: boolean) => {
    state.contents = new Map([['v-tag-draft-1', { ...CONTENT, isOpen }]]) as never;
  };
  observe(true);
  return {
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
    published() {
      state.disregarded = [TYPE];
      state.stale.disregard([TYPE]);
    },
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
