import { once } from 'node:events';
import { connect } from 'node:net';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createApiClient } from '../support/api-client.ts';
import { type Member, startFleet } from '../support/fleet.ts';
import { pauseMember } from '../support/pause-member.ts';
import { runVarve } from '../support/run-varve.ts';
import { takesMinutes } from '../support/takes-minutes.ts';
import { type Receiver, startReceiver } from '../support/webhook-receiver.ts';

type Hook = { readonly id: string; readonly deliveries: { readonly waiting: number } };

const RETRY = ['--webhook-retry', Array(1_000).fill('0.2').join(), '--webhook-hold', '3600'];
/** Number of open deliveries, more than the 500 that progress in the log can list. */
const MANY = 520;
const PATIENT = { timeout: 60_000, interval: 50 };

/** Returns the number of replays that a process has not finished. */
function replaysOf({ data }: Member): number {
  const db = new DatabaseSync(join(data, 'webhooks.db'), { readOnly: true });
  try {
    return Number(db.prepare('SELECT count(*) AS n FROM history_requests').get()?.['n']);
  } finally {
    db.close();
  }
}

/** Begins a write whose body never ends. */
async function beginWrite({ server }: Member): Promise<void> {
  const { hostname, port } = new URL(server().url);
  const socket = connect(Number(port), hostname);
  onTestFinished(() => void socket.destroy());
  socket.on('error', () => {});
  await once(socket, 'connect');
  socket.write(
    'POST /api/tags HTTP/1.1\r\nhost: test\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n{',
  );
}

describe('the next of two leaders', takesMinutes('webhooks of two leaders'), () => {
  const start = async () => {
    const receiver = await startReceiver();
    const fleet = await startFleet({ size: 2, arguments: RETRY });
    onTestFinished(async () => {
      await fleet.dispose();
      await receiver.close();
    });
    const leader = await fleet.leader();
    const other = fleet.members.find((member) => member !== leader) as Member;
    const data = { url: receiver.url, allowPrivate: true };
    const { id } = await apiOf(leader).data<Hook>('POST', '/_varve/webhooks', { data });
    const waiting = async (member: Member) =>
      (await apiOf(member).data<Hook>('GET', `/_varve/webhooks/${id}`)).deliveries.waiting;
    return { receiver, fleet, leader, other, id, waiting };
  };
  const apiOf = (member: Member) => createApiClient(member.server().url);
  const createTag = (member: Member, key: string) =>
    apiOf(member).data<{ documentId: string }>('POST', '/api/tags', { data: { key } });
  /** Returns the keys in the order in which the receiver first accepted them. */
  const keysOf = (accepted: ReadonlyMap<string, string>) => [...accepted.values()];
  const accept = (receiver: Receiver) => {
    const accepted = new Map<string, string>();
    receiver.answer(({ id, json }) => {
      if (!accepted.has(id)) accepted.set(id, String(json.entry?.['key']));
      return { status: 200 };
    });
    return accepted;
  };

  it(`sends all of ${MANY} open deliveries, more than the log lists, in the order of each document`, {
    timeout: 240_000,
  }, async () => {
    const { receiver, fleet, leader, other, waiting } = await start();
    receiver.answer(() => ({ status: 503 }));
    const keys: string[] = [];
    const write = async (from: number, step: number) => {
      for (let n = from; n < MANY - 2; n += step) {
        await createTag(leader, `k${n}`);
        keys.push(`k${n}`);
      }
    };
    await Promise.all([write(0, 3), write(1, 3), write(2, 3)]);
    const { documentId } = await createTag(leader, 'edited0');
    await apiOf(leader).data('PUT', `/api/tags/${documentId}`, { data: { key: 'edited1' } });
    await expect.poll(() => waiting(leader), PATIENT).toBe(MANY);
    await leader.end('SIGTERM');
    const accepted = accept(receiver);
    await fleet.becomesLeader(other);
    await expect.poll(() => accepted.size, PATIENT).toBe(MANY);
    expect(new Set(keysOf(accepted))).toEqual(new Set([...keys, 'edited0', 'edited1']));
    expect(keysOf(accepted).filter((key) => key.startsWith('edited'))).toEqual(['edited0', 'edited1']);
    await expect.poll(() => waiting(other), PATIENT).toBe(0);
  });

  it('continues replays of the leader before it, also of deliveries that it has sent earlier itself', {
    timeout: 300_000,
  }, async () => {
    const { receiver, fleet, leader, other, id, waiting } = await start();
    await createTag(leader, 'a');
    const [delivered] = await receiver.until(1);
    await expect.poll(() => waiting(leader), PATIENT).toBe(0);
    await leader.end('SIGTERM');
    await fleet.becomesLeader(other);
    receiver.answer(() => ({ status: 503 }));
    await apiOf(other).data('POST', `/_varve/webhooks/${id}/replay`, { data: { from: 1 } });
    await expect.poll(() => waiting(other), PATIENT).toBe(1);
    await leader.start();
    await other.end('SIGTERM');
    const accepted = accept(receiver);
    await fleet.becomesLeader(leader);
    await expect.poll(() => accepted.size, PATIENT).toBe(1);
    expect([...accepted.keys()]).toEqual([delivered?.id]);
  });

  it.each(['SIGKILL', 'SIGSTOP', 'SIGTERM'] as const)(
    'continues a replay during which the previous leader gets %s',
    { timeout: 300_000 },
    async (signal) => {
      const { receiver, fleet, leader, other, waiting } = await start();
      const keys: string[] = [];
      for (const name of ['a', 'b', 'c']) {
        keys.push(`${name}0`);
        const { documentId } = await createTag(leader, `${name}0`);
        for (const key of [`${name}1`, `${name}2`]) {
          keys.push(key);
          await apiOf(leader).data('PUT', `/api/tags/${documentId}`, { data: { key } });
        }
      }
      await expect.poll(() => waiting(leader), PATIENT).toBe(0);
      // All changes are older than this webhook.
      const data = { url: receiver.url, name: 'late', allowPrivate: true };
      const late = (await apiOf(leader).data<Hook>('POST', '/_varve/webhooks', { data })).id;
      const accepted = new Map<string, string>();
      const repeated: string[] = [];
      let most = 4;
      receiver.answer(({ id, json }) => {
        if (!accepted.has(id) && accepted.size >= most) return { status: 503 };
        if (accepted.has(id)) repeated.push(id);
        accepted.set(id, String(json.entry?.['key']));
        return { status: 200 };
      });
      await apiOf(leader).data('POST', `/_varve/webhooks/${late}/replay`, { data: { from: 1 } });
      await expect.poll(() => accepted.size, PATIENT).toBe(most);
      const open = async (member: Member) =>
        (await apiOf(member).data<Hook>('GET', `/_varve/webhooks/${late}`)).deliveries.waiting;
      await expect.poll(() => open(leader), PATIENT).toBe(keys.length - most);
      // A replay ends a moment after it has made its last delivery.
      if (signal === 'SIGTERM') await expect.poll(() => replaysOf(leader), PATIENT).toBe(0);
      // The other process claims the lease while this write is in flight, because it finds the leader's port closed.
      if (signal === 'SIGTERM') await beginWrite(leader);
      if (signal === 'SIGSTOP') await pauseMember(fleet, leader);
      else await leader.end(signal);
      most = Number.POSITIVE_INFINITY;
      await fleet.becomesLeader(other);
      await expect.poll(() => accepted.size, PATIENT).toBe(keys.length);
      for (const name of ['a', 'b', 'c'])
        expect(keysOf(accepted).filter((key) => key.startsWith(name))).toEqual(
          keys.filter((key) => key.startsWith(name)),
        );
      await expect.poll(() => open(other), PATIENT).toBe(0);
      const stored = await apiOf(other).data<{ id: string; state: string }[]>(
        'GET',
        `/_varve/webhooks/${late}/deliveries`,
      );
      expect(new Set(stored.map(({ state }) => state))).toEqual(new Set(['delivered']));
      // A leader that steps down publishes which deliveries are done. Otherwise all of them are repeated.
      const made = signal === 'SIGTERM' ? keys.length - 4 : keys.length;
      expect(stored, leader.server().output()).toHaveLength(made);
      if (signal === 'SIGTERM') expect(repeated).toEqual([]);
      if (signal === 'SIGSTOP') leader.server().signal('SIGCONT');
    },
  );

  it('does not keep a requested replay: the leader gets it, or the command is refused', {
    timeout: 300_000,
  }, async () => {
    const { receiver, fleet, leader, other, id, waiting } = await start();
    const command = ({ data }: Member) =>
      runVarve(['webhook', 'replay', id, '--from', '1', '--data', data, '--event-store', fleet.eventStore]);
    const refused = {
      code: 1,
      stderr: expect.stringContaining(`the leader is ${leader.server().url}: pass --data of the leader`),
    };
    await createTag(leader, 'a');
    const [delivered] = await receiver.until(1);
    // Until the leader has read the answer, the delivery is not done, and a replay would not send it again.
    await expect.poll(() => waiting(leader), PATIENT).toBe(0);
    const replay = (data: object) =>
      apiOf(other).call<{ replayed: number }>('POST', `/_varve/webhooks/${id}/replay`, { data });
    expect((await replay({ from: 'x' })).status).toBe(400);
    expect(await replay({ from: 1 })).toMatchObject({ status: 200, data: { replayed: 1 } });
    expect((await receiver.until(2)).map((one) => one.id)).toEqual([delivered?.id, delivered?.id]);
    await expect.poll(() => waiting(leader), PATIENT).toBe(0);
    expect(await command(other)).toMatchObject(refused);
    expect(await command(leader)).toMatchObject({ code: 0 });
    await receiver.until(3);
    await expect.poll(() => waiting(leader), PATIENT).toBe(0);
    await leader.end('SIGKILL');
    await fleet.becomesLeader(other);
    await expect.poll(async () => (await command(other)).code, PATIENT).toBe(0);
    await receiver.until(4);
  });
});
