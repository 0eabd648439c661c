import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, onTestFinished } from 'vitest';
import type { FeedItem } from '../../services/changes/feed-item.ts';
import { type EventReader, openEvents } from './event-source.ts';

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
