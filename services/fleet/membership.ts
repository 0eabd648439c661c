import { randomBytes } from 'node:crypto';
import type { EventStore } from '../../shared/event-store/event-store.ts';
import { newEvent } from '../../shared/events/new-event.ts';
import { identityStream, type ProcessStarted } from '../../shared/fleet/identity-events.ts';
import type { Leader } from '../../shared/fleet/lease.ts';
import { createSeal, type Seal } from './seal.ts';

/**
 * A process among those of its log. Two processes sign their messages to each other. The key follows from the access key, the claim of the
 * leader, and a nonce that the other process has written to the log. A copy of the log has the access key and the claim, but neither log
 * sees later events of the other.
 */
export type Membership = {
  /** Names this process. */
  readonly owner: string;
  /** Signs questions: identifies processes with the access key. */
  readonly questions: Seal;
  /** This process is about to claim the lease: event id of the claim. Called before, because others may ask as soon as it is in the log. */
  claiming(claim: string): void;
  /** A leader of this log's lease lives and does not see this log: the log is a copy of that leader's. */
  noteCopy(is: boolean): void;
  isCopy(): boolean;
  /** Event id of the newest claim of this process. */
  claim(): string | undefined;
  hasClaimed(claim: string): boolean;
  /**
   * Secret shared with a leader, published in the log at the first call of a term. Undefined if the log cannot be written: then the leader
   * is asked to write the nonce, and `read` finds it.
   */
  sealTo(leader: Leader): Promise<Seal | undefined>;
  /** Secret shared with another process under a claim, as in the log. */
  read(claim: string, owner: string): Promise<Seal | undefined>;
  /** The same without a look at the log. */
  known(claim: string, owner: string): Seal | undefined;
  /** Writes a nonce for a process that cannot write, unless it has one. */
  admit(claim: string, owner: string): Promise<Seal>;
};

export type MembershipOptions = {
  readonly log: EventStore;
  readonly space: string;
  readonly owner: string;
  /** Key that the processes of the log share: see readAccessKey. */
  readonly key: Buffer;
};

/** Creates the membership of a process. It reads the log when it first needs another process's nonce, not before. */
export function openMembership({ log, space, owner, key }: MembershipOptions): Membership {
  const stream = identityStream(space);
  const seals = new Map<string, Seal>();
  const sought = new Map<string, Promise<Seal | undefined>>();
  const claims: string[] = [];
  let next = 0n;
  let isCopy = false;
  let reading = Promise.resolve();

  const nameOf = (claim: string, of: string) => `${claim} ${of}`;
  const keep = ({ claim, owner: of, nonce }: ProcessStarted['data']): Seal => {
    const name = nameOf(claim, of);
    const seal = seals.get(name) ?? createSeal(key, 'processes of one log', space, claim, of, nonce);
    seals.set(name, seal);
    return seal;
  };
  const readOn = async (): Promise<void> => {
    for await (const { type, data, revision, unreadable } of log.readStream(stream, next)) {
      next = revision + 1n;
      // An event of another program, which proves nothing, or of a newer release.
      if (unreadable !== undefined) continue;
      const started = data as ProcessStarted['data'];
      const isAbout = claims.includes(started.claim) || started.owner === owner;
      if (type === 'process-started' && isAbout) keep(started);
    }
  };
  const append = async (claim: string, of: string): Promise<Seal> => {
    const data = { owner: of, claim, nonce: randomBytes(32).toString('base64url') };
    const event = newEvent(
      { type: 'process-started', data },
      { at: new Date().toISOString(), epoch: 0, actor: { kind: 'process', id: owner }, via: 'join-fleet' },
    );
    await log.append(stream, 'any', [event]);
    return keep(data);
  };
  const read = async (claim: string, of: string): Promise<Seal | undefined> => {
    const known = seals.get(nameOf(claim, of));
    if (known !== undefined) return known;
    // One after the other: two at once would both continue from one position.
    reading = reading.catch(() => {}).then(readOn);
    await reading;
    return seals.get(nameOf(claim, of));
  };
  return {
    owner,
    questions: createSeal(key, 'questions to a leader', space),
    claiming(claim) {
      claims.push(claim);
    },
    noteCopy(is) {
      isCopy = is;
    },
    isCopy: () => isCopy,
    claim: () => claims.at(-1),
    hasClaimed: (claim) => claims.includes(claim),
    known: (claim, of) => seals.get(nameOf(claim, of)),
    read,
    sealTo({ claim }) {
      const known = sought.get(claim) ?? append(claim, owner).catch(() => undefined);
      sought.set(claim, known);
      // A failed write is retried.
      void known.then((seal) => seal ?? sought.delete(claim));
      return known;
    },
    admit: async (claim, of) => (await read(claim, of)) ?? append(claim, of),
  };
}
