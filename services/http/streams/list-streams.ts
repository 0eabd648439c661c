import { setTimeout as delay } from 'node:timers/promises';
import type { KnownAnswers } from '../../delivery/known-answers.ts';
import { entityTag } from '../api/cacheable.ts';
import type { Asking } from '../api/content-api.ts';
import { type EventStream, type EventStreams, retryFrame } from './event-streams.ts';

/** A list as a caller sees it. */
export type LiveList = {
  /** Name of the caller's rights and the request. Lists with equal names have equal answers. */
  readonly name: string;
  readonly generation: string;
  readonly known: KnownAnswers;
  readonly answer: (asking: Asking) => Promise<Uint8Array>;
};

export type LiveStream = { readonly stream: EventStream; readonly isNotify: boolean };

export type ListStreamsOptions = {
  readonly freshness: {
    /** Resolves with true when reads show more than this position, and with false after a while. */
    readonly beyond: (position: bigint) => Promise<boolean>;
  };
  readonly streams: Pick<EventStreams, 'verify'>;
  readonly failed: (error: unknown) => void;
};

/** An answer, and the position that reads showed before it was made. */
type Shown = { readonly id: string; readonly body: Uint8Array; readonly position: bigint };
/** `has`: id of the answer that the client has. */
type Member = LiveStream & { has: string | undefined };
/** A list and its streams. Every member has the answer `shown`, or a newer one. */
type SharedList = { readonly list: LiveList; shown: Shown; readonly members: Set<Member> };

/** Minimum time between two answers of one list, however often content changes. */
const PACE_MS = 50;

/** Creates streams of lists, which get the answer whenever it changes. Streams of one list share each answer, made at most every 50 ms. */
export function createListStreams({ freshness, streams, failed }: ListStreamsOptions) {
  const lists = new Map<string, SharedList>();
  const run = async (shared: SharedList): Promise<void> => {
    const { list, members } = shared;
    let position = -1n;
    while (members.size > 0) {
      // The first check does not wait: content may have changed since the answer was made.
      if (position >= 0n) while (members.size > 0 && !(await freshness.beyond(position)));
      position = list.known.position();
      if (members.size === 0 || isCurrent(shared)) continue;
      const shown = await answerNow(list);
      await streams.verify();
      shared.shown = shown;
      for (const member of members) show(member, shown);
      await delay(PACE_MS);
    }
  };
  const start = (shared: SharedList): void => {
    const { list, members } = shared;
    void run(shared)
      .catch((error: unknown) => {
        for (const { stream } of members) stream.end(retryFrame());
        failed(error);
      })
      .finally(() => {
        if (lists.get(list.name) === shared) lists.delete(list.name);
        for (const { stream } of members) stream.end(retryFrame());
      });
  };
  return {
    /**
     * Makes the first answer, calls `open`, and sends the answer unless the client has it. `last`: id of the answer that the client has.
     */
    async sendTo(list: LiveList, open: () => Promise<LiveStream>, last: string | undefined): Promise<void> {
      const shown = await answerNow(list);
      const live = await open();
      const known = lists.get(list.name);
      // A shared list without members waits for a change, and then ends.
      const isWatched = known !== undefined && known.members.size > 0;
      const shared = isWatched ? known : { list, shown, members: new Set<Member>() };
      if (!live.stream.isOpen()) return;
      const first = shared.shown.position > shown.position ? shared.shown : shown;
      const member = { ...live, has: last ?? (live.isNotify ? first.id : undefined) };
      shared.members.add(member);
      live.stream.closed = () => void shared.members.delete(member);
      show(member, first);
      if (isWatched) return;
      lists.set(list.name, shared);
      start(shared);
    },
  };
}

/** Makes the answer and remembers its tags. Until one of these changes, no other answer is made. */
async function answerNow({ name, generation, known, answer }: LiveList): Promise<Shown> {
  const tags = known.collect();
  const asking = { id: name, isWanted: () => true, isDraft: false, varies: false, tags, shown: tags.shown };
  const position = known.position();
  const body = await answer(asking);
  const etag = entityTag(generation, body);
  if (position === known.position())
    known.keep(name, { etag, isDraft: asking.isDraft, position, tags: tags.all() });
  return { id: idOf(etag), body, position };
}

/** Returns whether the members have the current answer. A stream that joins makes and remembers an answer that the others lack. */
function isCurrent({ list, shown }: SharedList): boolean {
  const known = list.known.find(list.name);
  return known !== undefined && idOf(known.etag) === shown.id;
}

function idOf(etag: string): string {
  return etag.slice(1, -1);
}

/** Sends an answer to a client that has another one. */
function show(member: Member, { id, body }: Shown): void {
  if (member.has === id) return;
  member.has = id;
  const data = member.isNotify ? '{"changed":true}' : Buffer.from(body).toString();
  member.stream.send(`event: list\nid: ${id}\ndata: ${data}\n\n`);
}
