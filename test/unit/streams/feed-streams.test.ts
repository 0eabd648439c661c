import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import type { FeedPage, FeedReader } from '../../../services/changes/change-feed.ts';
import type { FeedItem } from '../../../services/changes/feed-item.ts';
import { createFeedStreams } from '../../../services/http/streams/feed-streams.ts';
import { createMemoryStream } from '../../support/memory-stream.ts';

/** Number of times that a stream tries to join others before it follows the feed alone. */
const TRIES = 20;
const ITEM = { type: 'api::tag.tag', documentId: 'a' } as unknown as FeedItem;

const pageOf = (next: string, items: readonly FeedItem[] = []): FeedPage => ({ items, next, hasMore: false });

function startFeed(
  failed: (error: unknown) => void = (error) => {
    throw error;
  },
) {
  let moved = Promise.withResolvers<boolean>();
  const streams = createFeedStreams({
    freshness: { beyond: () => moved.promise, position: () => 1n },
    streams: { verify: async () => {} },
    failed,
  });
  const move = () => {
    moved.resolve(true);
    moved = Promise.withResolvers();
  };
  const follow = async (page: FeedReader['page'], since?: string) => {
    const stream = createMemoryStream();
    await streams.sendTo({ hasDrafts: false, name: 'equal rights', page }, since, stream);
    return stream;
  };
  return { follow, move };
}

it(`a stream that never joins the others follows the feed alone after ${TRIES} tries`, async () => {
  const { follow, move } = startFeed();
  let items: readonly FeedItem[] = [];
  const first = await follow(async () => pageOf('1', items));
  let pages = 0;
  const second = await follow(async () => pageOf(`elsewhere ${++pages}`, items), 'elsewhere');
  // One more page is that of its own channel.
  expect(pages).toBe(TRIES + 2);
  items = [ITEM];
  move();
  for (const [stream, next] of [
    [first, '1'],
    [second, `elsewhere ${TRIES + 3}`],
  ] as const)
    await expect.poll(stream.text).toContain(`event: changes\nid: ${next}\n`);
});

it('a stream joins others that have read further meanwhile', async () => {
  const { follow } = startFeed();
  const first = await follow(async () => pageOf('3'));
  let pages = 0;
  const reader = async () => pageOf(String(Math.min(3, ++pages)));
  const second = await follow(reader, '0');
  // The channel uses the page of the first reader.
  expect(pages).toBe(3);
  expect([first, second].map(({ pulse }) => pulse())).toEqual([':\nid: 3\n\n', ':\nid: 3\n\n']);
});

it('a feed that cannot be read is not read again for a client that does not read the end of its stream', async () => {
  const failures: unknown[] = [];
  const { follow, move } = startFeed((error) => void failures.push(error));
  let isLost = false;
  // The connection is not closed before the client has read the end.
  const stream = await follow(async () => {
    await nextTurn();
    if (isLost) throw new Error('the log cannot be read');
    return pageOf('1');
  });
  // Waits for the page of its channel.
  for (let turn = 0; turn < 3; turn++) await nextTurn();
  isLost = true;
  move();
  await expect.poll(stream.isOpen).toBe(false);
  for (let turn = 0; turn < 10; turn++) await nextTurn();
  expect(failures).toHaveLength(1);
});
