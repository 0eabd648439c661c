import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { createAsk } from '../support/access-client.ts';
import { openEvents } from '../support/event-source.ts';
import { readFeed } from '../support/feed-client.ts';
import { type Member, startFleet, type TestFleet } from '../support/fleet.ts';
import { followFeed } from '../support/follow-feed.ts';
import { pauseMember } from '../support/pause-member.ts';
import { takesMinutes } from '../support/takes-minutes.ts';

/** Number of times that the leader is killed or stopped. */
const ENDS = Number(process.env['VARVE_FEED_ENDS'] ?? 4);

let fleet: TestFleet;
const urlOf = (member: Member) => member.server().url;
const tags = (member: Member, more = '') => `${urlOf(member)}/api/_changes?types=tags${more}`;

describe('feeds of two processes on one log', takesMinutes('feeds of two processes'), () => {
  beforeAll(async () => {
    fleet = await startFleet({ size: 2 });
  }, 300_000);
  afterAll(() => fleet?.dispose());

  const both = async (): Promise<{ readonly leader: Member; readonly other: Member }> => {
    const leader = await fleet.leader();
    return { leader, other: fleet.members.find((member) => member !== leader) as Member };
  };
  /** Writes through a process, and repeats the write until there is a leader. */
  const createTag = async (member: () => Member, key: string): Promise<string> => {
    const headers = { 'idempotency-key': crypto.randomUUID() };
    for (;;) {
      const sent = createAsk(urlOf(member()))('/api/tags', {
        method: 'POST',
        headers,
        body: { data: { key } },
      });
      const answer = await sent.catch(() => undefined);
      if (answer?.status === 201) return answer.body.data.documentId;
    }
  };
  const ticketOf = async (member: Member): Promise<string> => {
    for (;;) {
      const { status, body } = await createAsk(urlOf(member))('/_varve/tickets', { method: 'POST' });
      if (status === 201) return body.data.ticket;
      expect([status, body.error.code]).toEqual([503, 'no-leader']);
    }
  };
  /** Opens a stream with a ticket. Returns 200, or the status of the refusal. */
  const use = async (member: Member, ticket: string): Promise<number> => {
    try {
      (await openEvents(tags(member, `&ticket=${ticket}`))).close();
      return 200;
    } catch (error) {
      return Number((error as Error).message.slice(0, 3));
    }
  };

  it('accept a ticket once, in any process, made by any process', async () => {
    const { leader, other } = await both();
    for (const maker of [leader, other]) {
      const ticket = await ticketOf(maker);
      const statuses = await Promise.all(
        Array.from({ length: 20 }, (_, n) => use(n % 2 === 0 ? leader : other, ticket)),
      );
      expect(statuses.toSorted()).toEqual([200, ...Array(19).fill(401)]);
    }
    expect((await createAsk(urlOf(leader))('/_varve/tickets/use', { method: 'POST', body: {} })).status).toBe(
      404,
    );
  });

  it('accept a token of the other process, and give a list the same name', async () => {
    const { leader, other } = await both();
    const { next } = await readFeed(createAsk(urlOf(leader)), 'types=tags');
    const id = await createTag(() => other, 'token');
    const items = (await readFeed(createAsk(urlOf(other)), 'types=tags', next)).items;
    expect(items.map(({ documentId }) => documentId)).toEqual([id]);
    const path = '/api/tags?live=true&filters[key][$startsWith]=both&fields=key';
    const first = await openEvents(urlOf(other) + path);
    onTestFinished(first.close);
    await createTag(() => leader, 'both1');
    await first.until(() => first.events.at(-1)?.data.includes('both1') === true);
    const second = await openEvents(urlOf(leader) + path, { 'last-event-id': first.lastId() });
    onTestFinished(second.close);
    await createTag(() => other, 'both2');
    for (const list of [first, second])
      await list.until(() => list.events.at(-1)?.data.includes('both2') === true);
    expect(second.events).toHaveLength(1);
    expect(second.lastId()).toBe(first.lastId());
  });

  it(
    `have no gap and no repetition while the leader is killed or stopped ${ENDS} times`,
    async () => {
      const up = new Set(fleet.members);
      const any = () => [...up][Math.floor(Math.random() * up.size)] as Member;
      const { next } = await readFeed(createAsk(urlOf(any())), 'types=tags');
      const follower = followFeed(() => urlOf(any()), `types=tags&since=${next}`);
      const written: string[] = [];
      const write = async (count: number) => {
        for (let n = 0; n < count; n++) written.push(await createTag(any, `w${written.length}`));
      };
      for (let end = 0; end < ENDS; end++) {
        await write(10);
        const { leader, other } = await both();
        const ticket = await ticketOf(other);
        expect(await use(other, ticket)).toBe(200);
        const unused = await ticketOf(other);
        up.delete(leader);
        const isKilled = end % 2 === 0;
        const stop = async () => {
          if (isKilled) await leader.end('SIGKILL');
          else await pauseMember(fleet, leader);
        };
        await Promise.all([stop(), write(5)]);
        while ((await fleet.leader()) !== other) await nextTurn();
        // Only the ended leader knew which tickets were used, so the next leader accepts none of them.
        expect([await use(other, ticket), await use(other, unused)]).toEqual([401, 401]);
        if (isKilled) await leader.start();
        else leader.server().signal('SIGCONT');
        up.add(leader);
        await write(5);
        expect(await use(leader, ticket)).toBe(401);
        follower.leave();
      }
      await follower.until(written.length);
      expect(follower.items.map(({ documentId }) => documentId)).toEqual(written);
    },
    120_000 + ENDS * 60_000,
  );
});
