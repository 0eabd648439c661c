import { setTimeout as delay } from 'node:timers/promises';
import { RequestError } from '../../../shared/request-error.ts';
import type { FeedPage, FeedReader } from '../../changes/change-feed.ts';
import { type EventStream, retryFrame } from './event-streams.ts';
import type { ListStreamsOptions } from './list-streams.ts';

/** Sends new pages of the change feed to streams. */
export type FeedStreams = {
  /** Sends the feed after a sync token; undefined for a first sync. Resolves when the stream is up to date, or over. */
  sendTo(reader: FeedReader, since: string | undefined, stream: EventStream): Promise<void>;
};

export type FeedStreamsOptions = ListStreamsOptions & {
  /** `position`: the position that reads show. */
  readonly freshness: { readonly position: () => bigint };
};

/** Streams of callers with equal rights and selections, at one position of the feed. Each page is read once for all of them. */
type Channel = {
  readonly reader: FeedReader;
  next: string;
  readonly members: Set<EventStream>;
  isRunning: boolean;
};

const JOIN_MS = 5;
const MAX_TRIES = 20;

/** Returns the body of a page of the change feed: `data` and `meta`. */
export function presentPage({ items, next, hasMore }: FeedPage) {
  return { data: items, meta: { next, hasMore } };
}

/** Creates streams of the change feed. Streams of equal rights and selections at one position share one read of each page. */
export function createFeedStreams(options: FeedStreamsOptions): FeedStreams {
  const channels = new Map<string, Channel>();

  const run = async (channel: Channel): Promise<void> => {
    const { members } = channel;
    while (members.size > 0) {
      const shown = options.freshness.position();
      const page = await channel.reader.page(channel.next);
      await options.streams.verify();
      channel.next = page.next;
      const frame = page.items.length === 0 ? undefined : frameOf(page);
      if (frame !== undefined) for (const stream of members) stream.send(frame);
      if (!page.hasMore) while (members.size > 0 && !(await options.freshness.beyond(shown)));
    }
  };
  const start = (channel: Channel): void => {
    if (channel.isRunning) return;
    channel.isRunning = true;
    void run(channel)
      .catch((error: unknown) => {
        for (const stream of channel.members) stream.end(lastFrames(error));
        // `closed` is called only when the client has read the end of the stream.
        channel.members.clear();
        if (!(error instanceof RequestError)) options.failed(error);
      })
      .finally(() => {
        channel.isRunning = false;
        if (channel.members.size > 0) start(channel);
        else if (channels.get(channel.reader.name) === channel) channels.delete(channel.reader.name);
      });
  };
  /** Returns false if the channel is at another position of the feed. With `alone` the stream gets a channel of its own instead. */
  const join = (reader: FeedReader, next: string, stream: EventStream, alone: boolean): boolean => {
    const known = channels.get(reader.name);
    // A channel without streams waits for the next change, and has not read the last changes.
    const isWatched = known !== undefined && known.members.size > 0;
    if (isWatched && known.next !== next && !alone) return false;
    const channel =
      isWatched && known.next === next
        ? known
        : { reader, next, members: new Set<EventStream>(), isRunning: false };
    if (!isWatched) channels.set(reader.name, channel);
    if (!stream.isOpen()) return true;
    channel.members.add(stream);
    stream.pulse = () => `:\nid: ${channel.next}\n\n`;
    stream.closed = () => void channel.members.delete(stream);
    start(channel);
    return true;
  };
  return {
    async sendTo(reader, since, stream) {
      let next = since;
      for (let tries = 0; stream.isOpen(); ) {
        const page = await reader.page(next).catch(async (error: unknown) => {
          if (isGone(error)) {
            stream.send(resetFrame(error));
            return reader.page(undefined);
          }
          throw error;
        });
        await options.streams.verify();
        next = page.next;
        if (page.items.length > 0) stream.send(frameOf(page));
        await stream.drained();
        if (page.hasMore) continue;
        tries++;
        if (join(reader, next, stream, tries > MAX_TRIES)) return;
        // The channel has just read further, or is about to.
        await delay(JOIN_MS);
      }
    },
  };
}

/** Returns one frame for each page: a client that has received it continues after the whole page. */
function frameOf(page: FeedPage): string {
  return `event: changes\nid: ${page.next}\ndata: ${JSON.stringify(presentPage(page))}\n\n`;
}

function isGone(error: unknown): error is RequestError {
  return error instanceof RequestError && ['sync-token-gone', 'invalid-sync-token'].includes(error.code);
}

/** Returns a frame with an empty id: a client that connects again begins with a first sync. */
function resetFrame({ message }: RequestError): string {
  return `event: reset\nid\ndata: ${JSON.stringify({ message })}\n\n`;
}

function lastFrames(error: unknown): string {
  return isGone(error) ? `${resetFrame(error)}${retryFrame()}` : retryFrame();
}
