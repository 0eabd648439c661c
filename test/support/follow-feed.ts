import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, onTestFinished } from 'vitest';
import type { FeedItem } from '../../services/changes/feed-item.ts';
import { createAsk } from './access-client.ts';
import { type EventReader, openEvents } from './event-source.ts';
import { readFeed } from './feed-client.ts';

/** A reader of the feed that reconnects until the test ends, like EventSource. */
export type FeedFollower = {
  readonly items: readonly FeedItem[];
  /** Events other than pages, such as `reset`. */
  readonly others: readonly string[];
  /** Ends the stream. The reader continues with another one. */
  leave(): void;
  /** Resolves when the reader has so many items. */
  until(count: number): Promise<void>;
};

/** Follows a feed. `url` returns the address of the next process to ask. `query`: the parameters of the feed. */
export function followFeed(url: () => string, query: string): FeedFollower {
  const items: FeedItem[] = [];
  const others: string[] = [];
  let last = '';
  let current: EventReader | undefined;
  let isOver = false;
  const take = (reader: EventReader, from: number): number => {
    for (const { event, data, id } of reader.events.slice(from)) {
      if (event === 'changes') items.push(...(JSON.parse(data) as { readonly data: FeedItem[] }).data);
      else others.push(event);
      last = id;
    }
    return reader.events.length;
  };
  const follow = async (): Promise<void> => {
    const headers = last === '' ? {} : { 'last-event-id': last };
    const reader = await openEvents(`${url()}/api/_changes?${query}`, headers);
    current = reader;
    let taken = 0;
    try {
      await reader.until(() => {
        taken = take(reader, taken);
        return reader.isEnded() || isOver;
      }, 20_000);
    } finally {
      reader.close();
    }
  };
  const run = async (): Promise<void> => {
    // If a process is gone or sends nothing for a while, the reader asks the next one.
    while (!isOver) await follow().catch(() => nextTurn());
  };
  onTestFinished(() => {
    isOver = true;
    current?.close();
  });
  void run();
  return {
    items,
    others,
    leave: () => current?.close(),
    until: (count) => expect.poll(() => items.length, { timeout: 120_000 }).toBeGreaterThanOrEqual(count),
  };
}

/** Follows the feed of tags from now. A first sync may repeat rows that change meanwhile, so the reader begins after one. */
export async function followFromNow(url: () => string): Promise<FeedFollower> {
  const { next } = await readFeed(createAsk(url()), 'types=tags');
  return followFeed(url, `types=tags&since=${next}`);
}

/** Checks that the feed had every edit once, in the order of the log. */
export async function checkFollowed(
  feed: FeedFollower,
  written: ReadonlyMap<string, readonly string[]>,
): Promise<void> {
  await feed.until([...written.values()].flat().length);
  const positions = feed.items.map(({ position }) => BigInt(position));
  expect(positions).toEqual([...new Set(positions)].toSorted((a, b) => (a < b ? -1 : 1)));
  for (const [documentId, keys] of written)
    expect(feed.items.filter((item) => item.documentId === documentId)).toHaveLength(keys.length);
  expect(feed.others).toEqual([]);
}
