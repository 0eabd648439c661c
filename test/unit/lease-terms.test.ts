import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { claimLease } from '../../services/fleet/claim-lease.ts';
import { joinFleet } from '../../services/fleet/fleet.ts';
import { createLeaseView, readLease } from '../../services/fleet/lease-view.ts';
import { LEADER_TIMEOUTS } from '../../services/fleet/watch-leader.ts';
import { createCondition } from '../../shared/condition.ts';
import type { EventStore } from '../../shared/event-store/event-store.ts';
import { newCommandWorld, schemasOf } from './command-world.ts';

const SCHEMAS = schemasOf({ page: { attributes: { n: { type: 'integer' } } } });
const claimantOf = (log: EventStore, owner: string) => ({
  ...{ log, space: 'varve', owner, address: 'http://127.0.0.1:9', now: () => new Date().toISOString() },
});

/** A process that joins the fleet of a log. `hold`: later events reach it when `arrive` is called. */
async function join(
  beginTerm: (process: { readonly log: EventStore; hold(): void }) => Promise<void>,
  prepare: (log: EventStore) => Promise<void> = async () => {},
) {
  const { store } = await newCommandWorld(SCHEMAS);
  await prepare(store);
  let isUnreadable = false;
  const log: EventStore = {
    ...store,
    async *readStream(...given) {
      if (isUnreadable) throw new Error('the log does not answer');
      yield* store.readStream(...given);
    },
  };
  const view = createLeaseView('varve', await readLease(store, 'varve'));
  const moved = createCondition();
  let position = 0n;
  let arrived = Promise.withResolvers<void>();
  arrived.resolve();
  const subscription = store.subscribe(0n, async (events) => {
    await arrived.promise;
    view.apply(events);
    position = events.at(-1)?.position ?? position;
    moved.check();
  });
  const reports: string[] = [];
  const hold = () => {
    arrived = Promise.withResolvers();
  };
  const fleet = joinFleet({
    ...{ claimant: claimantOf(log, 'own'), view, position: () => position, epochAt: () => 0 },
    applied: async (wanted) => void (await moved.until(() => wanted <= position)),
    beginTerm: () => beginTerm({ log: store, hold }),
    report: ({ kind }) => reports.push(kind),
    standBy: () => {},
  });
  const ended = fleet.done.then(
    () => 'resolved',
    (error: Error) => error.message,
  );
  onTestFinished(async () => {
    arrived.resolve();
    await fleet.close();
    await subscription.close();
  });
  return {
    ...{ fleet, reports, ended, log: store, arrive: () => arrived.resolve() },
    refuseReads(isRefused: boolean) {
      isUnreadable = isRefused;
    },
  };
}

async function claimFor(log: EventStore, owner: string, address = 'http://127.0.0.1:9'): Promise<void> {
  await claimLease({ ...claimantOf(log, owner), address }, await readLease(log, 'varve'));
}

/** Opens the address of a process whose answers show no leader. `end`: the process ends. */
async function listen() {
  const server = createServer((_request, response) => response.end('{}'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const end = async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  onTestFinished(end);
  return { address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, end };
}

describe('a term that cannot begin', () => {
  it('is over if another process has claimed the lease, also before that claim arrives', async () => {
    const { fleet, reports, arrive, ended } = await join(async ({ log, hold }) => {
      hold();
      await claimFor(log, 'other');
      throw new Error('an index is gone');
    });
    await expect.poll(() => reports).toEqual(['claiming', 'lost']);
    expect(fleet.epoch()).toBeUndefined();
    const leading = fleet.changed(5_000);
    arrive();
    await leading;
    await fleet.stepDown();
    expect([await ended, reports]).toEqual(['resolved', ['claiming', 'lost']]);
  });

  it('ends the process if it still holds the lease', async () => {
    const { ended, reports } = await join(() => Promise.reject(new Error('wrong password')));
    expect(await ended).toBe('wrong password');
    expect(reports).toEqual(['claiming']);
  });

  it('begins again if the log cannot say who holds the lease', async () => {
    let terms = 0;
    const process = await join(async () => {
      process.refuseReads(terms === 0);
      if (terms++ === 0) throw new Error('an index is gone');
    });
    await expect
      .poll(() => process.reports, { timeout: 10_000 })
      .toEqual(['claiming', 'unclaimed', 'leading']);
    expect(process.fleet.epoch()).toBe(1);
  });

  it('does not end a process that steps down meanwhile', async () => {
    const begun = Promise.withResolvers<void>();
    const failure = Promise.withResolvers<void>();
    const { fleet, ended } = await join(() => {
      begun.resolve();
      return failure.promise;
    });
    await begun.promise;
    const steppedDown = fleet.stepDown();
    failure.reject(new Error('the index was closed'));
    await steppedDown;
    expect(await ended).toBe('resolved');
  });
});

describe('a process that only watched', () => {
  /** Makes processes take the lease over from each other, silently. `waited`: milliseconds until the process that watched is the leader. */
  async function takeOverAgain() {
    const { address, end } = await listen();
    const { log, reports } = await join(
      async () => {},
      (log) => claimFor(log, 'first', address),
    );
    for (let round = 0; round < 5; round++) {
      await delay(50);
      await claimFor(log, `other ${round}`, address);
    }
    const since = performance.now();
    const waited = async () => {
      await expect.poll(() => reports, { timeout: 30_000, interval: 20 }).toContain('leading');
      return performance.now() - since;
    };
    return { end, waited };
  }

  it('waits for a silent leader twice as long, and no longer, if others took the lease over again and again', async () => {
    const waited = await (await takeOverAgain()).waited();
    expect(waited).toBeGreaterThan(2 * LEADER_TIMEOUTS.silence - 100);
    // Four seconds, and the time between two looks on a busy machine. Writes wait for ten.
    expect(waited).toBeLessThan(4 * LEADER_TIMEOUTS.silence);
  });

  it('claims at once if the leader has ended', async () => {
    const { end, waited } = await takeOverAgain();
    await end();
    expect(await waited()).toBeLessThan(LEADER_TIMEOUTS.silence);
  });
});
