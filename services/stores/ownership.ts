import type { EventStore } from '../../shared/event-store/event-store.ts';
import type { LeaderElected } from '../../shared/fleet/lease-events.ts';
import { leaseStream } from '../../shared/fleet/lease-events.ts';
import type { OwnerRecord, OwnerStore } from '../../shared/owner-record.ts';
import { fromLog } from '../fleet/lease-terms.ts';
import { identityOfLog } from '../fleet/log-identity.ts';

/** Store outside the log: the leader writes to it, and the leader of a copy of the log would destroy it. */
export type OwnedStore = {
  /** Name for messages, such as `the uploaded files in s3://bucket/prefix`. */
  readonly name: string;
  /** Option that names the store. */
  readonly option: string;
  readonly store: OwnerStore;
};

export type OwnershipOptions = {
  readonly log: EventStore;
  readonly space: string;
  /** True to take stores over from other logs. */
  readonly adopt: boolean;
};

const TRIES = 5;

/**
 * Records in a store which log writes to it, and the newest claim of that log's lease. A copy of a log's file has the identity of the
 * original, but not its later claims. A store without a record is from an earlier release and is accepted. Logs of other namespaces are
 * owners too. Returns a message if another log of this namespace writes to it.
 */
export async function ownStore(owned: OwnedStore, options: OwnershipOptions): Promise<string | undefined> {
  const { log, space, adopt } = options;
  for (let tries = 0; tries < TRIES; tries++) {
    const owners = await owned.store.read();
    const found = owners[space];
    // Read after the store, which may name the claim of a leader that came after this one.
    const own = await fromLog(readOwn(log, space));
    if (!isOf(own, found) && !adopt) return refusal(owned, found, own.id);
    const claim = own.newest ?? found?.claim;
    // Without an identity or a leader nothing was ever written.
    if (own.id === undefined || claim === undefined) return undefined;
    // We read the record after we wrote it: an owner of another namespace may have written its own at the same time.
    if (found?.log === own.id && found.claim === claim && !(adopt && tries === 0)) return undefined;
    const mine = { [space]: { log: own.id, claim } };
    await owned.store.write(adopt && tries === 0 ? mine : { ...owners, ...mine });
  }
  return undefined;
}

/**
 * Replaces the record of a claim that this log has lost, because an older copy of it was restored. Call it only if this process has applied
 * the lost history of this log itself: the record of a copy of the log looks the same.
 */
export async function forgetLostClaim(
  { store }: Pick<OwnedStore, 'store'>,
  { log, space }: Pick<OwnershipOptions, 'log' | 'space'>,
): Promise<void> {
  const [owners, own] = [await store.read(), await readOwn(log, space)];
  const found = owners[space];
  if (found === undefined || found.log !== own.id || isOf(own, found) || own.newest === undefined) return;
  await store.write({ ...owners, [space]: { log: own.id, claim: own.newest } });
}

function isOf(own: Own, found: OwnerRecord | undefined): boolean {
  return found === undefined || (found.log === own.id && own.claims.has(found.claim));
}

/**
 * State of a store. `lost`: another log of this namespace owns it now. `shared`: other namespaces use it too. `sole`: only this log uses
 * it.
 */
export type OwnerState = 'sole' | 'shared' | 'lost';

/** Returns the state of the store for this log, and changes nothing. */
export async function ownerStateOf(
  { store }: OwnedStore,
  { log, space }: OwnershipOptions,
): Promise<OwnerState> {
  const [owners, own] = [await store.read(), await readOwn(log, space)];
  const others = Object.keys(owners).filter((name) => name !== space);
  // Another log of the same namespace that took the store over has removed this log's record.
  const isLost = owners[space] === undefined ? others.length > 0 : !isOf(own, owners[space]);
  if (isLost) return 'lost';
  return others.length > 0 ? 'shared' : 'sole';
}

type Own = Awaited<ReturnType<typeof readOwn>>;

async function readOwn(log: EventStore, space: string) {
  const claims = new Set<string>();
  let newest: string | undefined;
  for await (const { id, type } of log.readStream(leaseStream(space))) {
    if (type !== ('leader-elected' satisfies LeaderElected['type'])) continue;
    claims.add(id);
    newest = id;
  }
  return { id: await identityOfLog(log, space), claims, newest };
}

function refusal(
  { name, option }: OwnedStore,
  found: OwnerRecord | undefined,
  own: string | undefined,
): string {
  const another =
    found?.log === own
      ? `another copy of this log (${own}) has written there, with the claim ${found?.claim}, which this log does not have`
      : `they belong to the log ${found?.log}, and this is the log ${own}`;
  return `Varve does not write to ${name}: ${another}. A copy of a log needs a place of its own: pass another ${option}. If the other log is no longer used, pass --adopt to become the owner`;
}
