import { describe, expect, it, onTestFinished } from 'vitest';
import { claimLease } from '../../services/fleet/claim-lease.ts';
import { joinFleet } from '../../services/fleet/fleet.ts';
import { createLeaseView, readLease } from '../../services/fleet/lease-view.ts';
import { createCondition } from '../../shared/condition.ts';
import type { EventStore } from '../../shared/event-store/event-store.ts';
import { NO_LEASE } from '../../shared/fleet/lease.ts';
import { newCommandWorld, schemasOf } from './command-world.ts';

const SCHEMAS = schemasOf({ page: { attributes: { n: { type: 'integer' } } } });
const claimantOf = (log: EventStore, owner: string) => ({
  ...{ log, space: 'varve', owner, address: 'http://127.0.0.1:9', now: () => new Date().toISOString() },
});

/** A process that joins the fleet of a log. `delay`: later events reach it when `arrive` is called. */
async function join(beginTerm: (process: { readonly log: EventStore; delay(): void }) => Promise<void>) {
  const { store } = await newCommandWorld(SCHEMAS);
  let isUnreadable = false;
  const log: EventStore = {
    ...store,
    async *readStream(...given) {
      if (isUnreadable) throw new Error('the log does not answer');
      yield* store.readStream(...given);
    },
  };
  const view = createLeaseView('varve', NO_LEASE);
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
  const delay = () => {
    arrived = Promise.withResolvers();
  };
  const fleet = joinFleet({
    ...{ claimant: claimantOf(log, 'own'), view, position: () => position, epochAt: () => 0 },
    applied: async (wanted) => void (await moved.until(() => wanted <= position)),
    beginTerm: () => beginTerm({ log: store, delay }),
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

async function claimFor(log: EventStore, owner: string): Promise<void> {
  await claimLease(claimantOf(log, owner), await readLease(log, 'varve'));
}

describe('a term that cannot begin', () => {
  it('is over if another process has claimed the lease, also before that claim arrives', async () => {
    const { fleet, reports, arrive, ended } = await join(async ({ log, delay }) => {
      delay();
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
