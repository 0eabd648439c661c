import { expect, it, onTestFinished, vi } from 'vitest';
import { createAnswerMemory } from '../../../services/delivery/known-answers.ts';
import { createTagPositions } from '../../../services/delivery/tag-positions.ts';
import { createFeedStreams } from '../../../services/http/streams/feed-streams.ts';
import { createListStreams } from '../../../services/http/streams/list-streams.ts';
import { createFreshness } from '../../../services/process/freshness.ts';
import type { ReadSide } from '../../../services/read-side/read-side.ts';
import { createMemoryStream, type MemoryStream } from '../../support/memory-stream.ts';

/** Longest time between two looks of streams at the position. */
const LOOK_MS = 1_000;

/** Returns the options of content that never changes. */
function idleOptions() {
  const readSide = { index: { position: () => 1n }, shows: async () => true };
  const freshness = createFreshness({
    readSide: readSide as unknown as ReadSide,
    access: { applied: async () => true },
    synonyms: { applied: async () => true },
    log: { lastPosition: async () => 1n },
    waitMs: 1_000,
  });
  return {
    freshness,
    streams: { verify: async () => {} },
    failed(error: unknown) {
      throw error;
    },
  };
}

function followList(stream: MemoryStream): Promise<void> {
  const memory = createAnswerMemory({
    maxBytes: 10_000,
    keepsBodies: false,
    position: () => 1n,
    registry: { contentTypes: new Map(), components: new Map() },
    positions: createTagPositions(),
  });
  const answer = async () => Buffer.from('{}');
  const list = { name: 'list', generation: '', known: memory.create(), answer };
  return createListStreams(idleOptions()).sendTo(list, async () => ({ stream, isNotify: false }), undefined);
}

function followFeed(stream: MemoryStream): Promise<void> {
  const page = async () => ({ items: [], next: '1', hasMore: false });
  const reader = { hasDrafts: false, name: 'equal rights', page };
  return createFeedStreams(idleOptions()).sendTo(reader, undefined, stream);
}

it.each([
  ['list', followList],
  ['feed', followFeed],
])(
  'nothing waits for a change of a %s any more soon after its last stream is over',
  async (_what, follow) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const stream = createMemoryStream();
    await follow(stream);
    await vi.waitFor(() => expect(vi.getTimerCount()).toBe(1));
    await vi.advanceTimersByTimeAsync(LOOK_MS);
    expect(vi.getTimerCount()).toBe(1);
    stream.closed();
    await vi.advanceTimersByTimeAsync(LOOK_MS);
    expect(vi.getTimerCount()).toBe(0);
  },
);
