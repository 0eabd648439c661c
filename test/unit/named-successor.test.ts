import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { claimLease, returnLease } from '../../services/fleet/claim-lease.ts';
import { readLease } from '../../services/fleet/lease-view.ts';
import { claimFreeLease } from '../../services/fleet/require-lease.ts';
import { createLeaderCheck, LEADER_TIMEOUTS } from '../../services/fleet/watch-leader.ts';
import type { EventStore } from '../../shared/event-store/event-store.ts';
import { newCommandWorld, schemasOf } from './command-world.ts';

const SCHEMAS = schemasOf({ page: { attributes: { n: { type: 'integer' } } } });
const FOR_MS = 2_000;
const now = () => new Date().toISOString();

/** Listens as a server does whose worker is paused or still starting: it accepts connections and answers nothing. */
async function listenSilently(): Promise<{ readonly address: string; readonly server: Server }> {
  const server = createServer(() => {});
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server };
}

/** Returns a log whose leader `old` has stepped down for `next` at this address. */
async function steppedDownFor(address: string): Promise<EventStore> {
  const { store: log } = await newCommandWorld(SCHEMAS);
  const old = { log, space: 'varve', owner: 'old', address, now };
  await claimLease(old, await readLease(log, 'varve'));
  await returnLease(old, await readLease(log, 'varve'), { owner: 'next', address, forMs: FOR_MS });
  return log;
}

const claimantOf = (log: EventStore, owner: string, address: string) => ({
  ...{ log, space: 'varve', owner, address, now },
});

const STANDBY = 'http://127.0.0.1:9';

describe('a lease whose leader has named a successor', () => {
  it('has no leader, and the successor claims it at once', async () => {
    const { address } = await listenSilently();
    const log = await steppedDownFor(address);
    const successor = { owner: 'next', address, forMs: FOR_MS };
    expect(await readLease(log, 'varve')).toMatchObject({ epoch: 1, leader: undefined, successor });
    expect(await claimFreeLease(claimantOf(log, 'next', address))).toBe(2);
  });

  it('is free at once for a process at the address of the successor: it has replaced that process', async () => {
    const { address } = await listenSilently();
    const log = await steppedDownFor(address);
    const check = createLeaderCheck(claimantOf(log, 'restarted', address), () => performance.now());
    expect(await check(await readLease(log, 'varve'))).toBe('free');
  });

  it('is left to a successor that is paused, and claimed by another process when its time is over', async () => {
    const { address } = await listenSilently();
    const log = await steppedDownFor(address);
    const started = performance.now();
    expect(await claimFreeLease(claimantOf(log, 'standby', STANDBY))).toBe(2);
    expect(performance.now() - started).toBeGreaterThanOrEqual(FOR_MS);
    expect(await readLease(log, 'varve')).toMatchObject({
      leader: { owner: 'standby' },
      successor: undefined,
    });
  });

  it('is claimed by another process when the successor is killed', async () => {
    const { address, server } = await listenSilently();
    const log = await steppedDownFor(address);
    const timeouts = { ...LEADER_TIMEOUTS, probeTimeout: 50 };
    const check = createLeaderCheck(claimantOf(log, 'standby', STANDBY), () => performance.now(), timeouts);
    const lease = await readLease(log, 'varve');
    expect(await check(lease)).toBe('silent');
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    expect(await check(lease)).toBe('free');
  });

  it('is free as soon as another process answers at the address', async () => {
    const server = createServer((_request, response) => response.end('{"owner":"restarted","epoch":null}'));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const log = await steppedDownFor(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    const check = createLeaderCheck(claimantOf(log, 'standby', STANDBY), () => performance.now());
    expect(await check(await readLease(log, 'varve'))).toBe('free');
  });

  it('a successor that has claimed has its whole time for its first answer, and no longer', async () => {
    const { address } = await listenSilently();
    const log = await steppedDownFor(address);
    await claimLease(claimantOf(log, 'next', address), await readLease(log, 'varve'));
    const lease = await readLease(log, 'varve');
    const claimedAt = performance.now();
    const timeouts = { ...LEADER_TIMEOUTS, probeTimeout: 50, silence: 100 };
    const check = createLeaderCheck(claimantOf(log, 'standby', STANDBY), () => claimedAt, timeouts);
    await new Promise((resolve) => setTimeout(resolve, 3 * timeouts.silence));
    expect(await check(lease)).toBe('silent');
    await new Promise((resolve) => setTimeout(resolve, FOR_MS));
    // A check that itself took too long on a busy machine says nothing about the leader, and gives it the same time again.
    await expect.poll(() => check(lease)).toBe('free');
  });

  it('names no successor any more when that process steps down', async () => {
    const { address } = await listenSilently();
    const log = await steppedDownFor(address);
    const next = claimantOf(log, 'next', address);
    await claimLease(next, await readLease(log, 'varve'));
    await returnLease(next, await readLease(log, 'varve'));
    const lease = await readLease(log, 'varve');
    expect(lease).toMatchObject({ leader: undefined, successor: undefined });
    const check = createLeaderCheck(claimantOf(log, 'standby', STANDBY), () => performance.now());
    expect(await check(lease)).toBe('free');
  });
});
