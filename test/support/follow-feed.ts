import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, onTestFinished } from 'vitest';
import type { FeedItem } from '../../services/changes/feed-item.ts';
import { createAsk } from './access-client.ts';
import { type EventReader, openEvents } from './event-source.ts';
import { readFeed } from './feed-client.ts';

/** A reader of the feed that connects again and again until the test ends, as EventSource does. */
export type FeedFollower = {
  readonly items: readonly FeedItem[];
  /** Events other than pages, such as `reset`. */
  readonly others: readonly string[];
  /** Ends the stream: it continues with another one. */
  leave(): void;
  /** Resolves when there are so many items. */
  until(count: number): Promise<void>;
};

/** `url`: of the process to ask next. `query`: of the feed. */
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
      });
    } finally {
      reader.close();
    }
  };
  const run = async (): Promise<void> => {
    // A process that is gone, or sends nothing for a while: the next one.
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

/** A row that changes during a first sync may come twice: this reader begins behind one. */
export async function followFromNow(url: () => string): Promise<FeedFollower> {
  const { next } = await readFeed(createAsk(url()), 'types=tags');
  return followFeed(url, `types=tags&since=${next}`);
}

/** The feed named every edit once, in the order of the log. */
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
