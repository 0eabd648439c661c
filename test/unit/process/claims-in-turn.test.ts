import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { readLease } from '../../../services/fleet/lease-view.ts';
import { createPresence } from '../../../services/fleet/presence.ts';
import { LEADER_TIMEOUTS } from '../../../services/fleet/watch-leader.ts';
import { listen } from '../../../services/http/sockets/listen.ts';
import { withLog } from '../../support/log-facts.ts';
import { createDataDirectory } from '../../support/server.ts';
import { openInProcess } from '../../support/varve-in-process.ts';

function leaseOf(data: string) {
  const log = { eventStore: `sqlite:${join(data, 'events.db')}`, space: 'varve' };
  return withLog(log, (opened) => readLease(opened, 'varve'));
}

it("a process that takes another's place claims the lease when its turn comes, even if the other one is silent before", async () => {
  const data = createDataDirectory();
  onTestFinished(() => rmSync(data, { recursive: true, force: true }));
  await (await openInProcess(data)).close();
  const { epoch } = await leaseOf(data);
  const turn = Promise.withResolvers<void>();
  const varve = await openInProcess(data, { fleet: { claimsFrom: turn.promise } });
  onTestFinished(varve.close);
  await varve.fleet.changed(2 * LEADER_TIMEOUTS.probeEvery);
  expect([varve.fleet.leader().kind, (await leaseOf(data)).epoch]).toEqual(['nobody', epoch]);
  turn.resolve();
  await expect.poll(() => varve.fleet.leader().kind).toBe('here');
  expect((await leaseOf(data)).epoch).toBe(epoch + 1);
});

it('a process that has left its address does not identify itself there', async () => {
  const presence = createPresence();
  const listener = await listen({ host: '127.0.0.1', port: 0, first: presence.answer });
  onTestFinished(() => listener.drain(0));
  const ask = async () => {
    const answer = await fetch(`${listener.url}/_varve/leader`);
    return [answer.status, ((await answer.json()) as { readonly owner?: string }).owner];
  };
  expect(await ask()).toEqual([200, presence.owner]);
  presence.leave();
  expect(await ask()).toEqual([503, undefined]);
});
