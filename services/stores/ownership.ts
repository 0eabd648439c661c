import type { EventStore } from '../../shared/event-store/event-store.ts';
import type { LeaderElected } from '../../shared/fleet/lease-events.ts';
import { leaseStream } from '../../shared/fleet/lease-events.ts';
import type { OwnerRecord, OwnerStore } from '../../shared/owner-record.ts';
import { identityOfLog } from '../fleet/log-identity.ts';

/** A place outside the log that its leader writes to, and that a copy of the log would destroy. */
export type OwnedPlace = {
  /** For messages, such as `the uploaded files in s3://bucket/prefix`. */
  readonly name: string;
  /** What names the place. */
  readonly option: string;
  readonly store: OwnerStore;
};

export type OwnershipOptions = {
  readonly log: EventStore;
  readonly space: string;
  /** Take places over from other logs. */
  readonly adopt: boolean;
};

const TRIES = 5;

/**
 * Notes in a place that this log writes to it. The note names the log and the last claim under which it was written: a copy of a
 * file has the identity of the original, and not the claims that came later. A place without a note is from an earlier release
 * and is taken as it is. Logs of other spaces are owners too. Answers a sentence when another log of this space writes to it.
 */
export async function ownPlace(place: OwnedPlace, options: OwnershipOptions): Promise<string | undefined> {
  const { log, space, adopt } = options;
  const own = await readOwn(log, space);
  for (let tries = 0; tries < TRIES; tries++) {
    const owners = await place.store.read();
    const found = owners[space];
    if (!isOf(own, found) && !adopt) return refusal(place, found, own.id);
    const claim = own.newest ?? found?.claim;
    // Without an identity or a leader nothing was ever written.
    if (own.id === undefined || claim === undefined) return undefined;
    // Read again after it was written: an owner of another space may have written its note at the same time.
    if (found?.log === own.id && found.claim === claim && !(adopt && tries === 0)) return undefined;
    const mine = { [space]: { log: own.id, claim } };
    await place.store.write(adopt && tries === 0 ? mine : { ...owners, ...mine });
  }
  return undefined;
}

const isOf = (own: Own, found: OwnerRecord | undefined): boolean =>
  found === undefined || (found.log === own.id && own.claims.has(found.claim));

/** `lost`: another log of this space was told to take the place over. `shared`: logs of other spaces use what is there too. */
export type Possession = 'sole' | 'shared' | 'lost';

export async function possessionOf(
  { store }: OwnedPlace,
  { log, space }: OwnershipOptions,
): Promise<Possession> {
  const [own, owners] = [await readOwn(log, space), await store.read()];
  const others = Object.keys(owners).filter((name) => name !== space);
  // Whoever took it over with a space of its own has left no note of this log.
  const isLost = owners[space] === undefined ? others.length > 0 : !isOf(own, owners[space]);
  if (isLost) return 'lost';
  return others.length > 0 ? 'shared' : 'sole';
}

type Own = {
  readonly id: string | undefined;
  readonly claims: ReadonlySet<string>;
  readonly newest: string | undefined;
};

async function readOwn(log: EventStore, space: string): Promise<Own> {
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
  { name, option }: OwnedPlace,
  found: OwnerRecord | undefined,
  own: string | undefined,
): string {
  const another =
    found?.log === own
      ? `another copy of this log (${own}) has written there since, under the claim ${found?.claim}, which is not in this one`
      : `they belong to the log ${found?.log}, and this is the log ${own}`;
  return `${name} are not written to: ${another}. A copy of a log needs a place of its own: give another ${option}. If the other log is not used any more, take the place over with --adopt`;
}
