import { randomBytes } from 'node:crypto';
import type { EventStore } from '../../shared/event-store/event-store.ts';
import { newEvent } from '../../shared/events/new-event.ts';
import { identityStream, type ProcessStarted } from '../../shared/fleet/identity-events.ts';
import type { Leader } from '../../shared/fleet/lease.ts';
import { valueAt } from '../../shared/map-values.ts';
import { createSeal, type Seal } from './seal.ts';

/**
 * Proof of a process to others that it uses the same log. Two processes sign their messages to each other. Their key follows from the
 * access key, the claim of the leader, and a nonce that the other process wrote to the log. A copy of the log has the access key and the
 * claim. But neither log has later events of the other, so a nonce is in only one of them.
 */
export type Membership = ReturnType<typeof openMembership>;

export type MembershipOptions = {
  readonly log: EventStore;
  readonly space: string;
  readonly owner: string;
  /** Key that the processes of the log share: see readAccessKey. */
  readonly key: Buffer;
};

/** Creates the membership of a process. It does not read the log before it needs the nonce of another process. */
export function openMembership({ log, space, owner, key }: MembershipOptions) {
  const stream = identityStream(space);
  const seals = new Map<string, Seal>();
  const sought = new Map<string, Promise<Seal | undefined>>();
  const claims: string[] = [];
  let next = 0n;
  let isCopy = false;
  let reading = Promise.resolve();

  const keep = ({ claim, owner: of, nonce }: ProcessStarted['data']): Seal => {
    const make = () => createSeal(key, 'processes of one log', space, claim, of, nonce);
    return valueAt(seals, nameOf(claim, of), make);
  };
  const readOn = async (): Promise<void> => {
    for await (const { type, data, revision, unreadable } of log.readStream(stream, next)) {
      next = revision + 1n;
      // An event of another program proves nothing, and an event of a newer release cannot be read.
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
  const known = (claim: string, of: string) => seals.get(nameOf(claim, of));
  const read = async (claim: string, of: string): Promise<Seal | undefined> => {
    const seal = known(claim, of);
    if (seal !== undefined) return seal;
    // Reads run one after the other, because two at once would continue from the same position.
    reading = reading.catch(() => {}).then(readOn);
    await reading;
    return known(claim, of);
  };
  return {
    /** Names this process. */
    owner,
    /** Signs questions. Only processes with the access key can do so. */
    questions: createSeal(key, 'questions to a leader', space),
    /** Records the event id of a claim that this process will append. Other processes may ask as soon as the claim is in the log. */
    claiming(claim: string): void {
      claims.push(claim);
    },
    /** Records whether this log is a copy. It is one if the leader that its lease names is alive and uses another log. */
    noteCopy(is: boolean): void {
      isCopy = is;
    },
    isCopy: () => isCopy,
    /** Event id of the newest claim of this process. */
    claim: () => claims.at(-1),
    hasClaimed: (claim: string) => claims.includes(claim),
    /** Returns the seal shared with another process under a claim, if this process has read its nonce. */
    known,
    /** Returns the seal shared with another process under a claim. Reads the log if the seal is not known. */
    read,
    /**
     * Returns the seal shared with a leader. The first call of a term writes the nonce to the log. Undefined if the log cannot be written:
     * then this process asks the leader to write the nonce, and `read` finds it.
     */
    sealTo({ claim }: Leader): Promise<Seal | undefined> {
      const seal = sought.get(claim) ?? append(claim, owner).catch(() => undefined);
      sought.set(claim, seal);
      // A failed write is retried.
      // Never rejects: a failed append is undefined.
      void seal.then((found) => found ?? sought.delete(claim));
      return seal;
    },
    /** Returns the seal shared with a process that cannot write to the log. Writes a nonce for it if it has none. */
    admit: async (claim: string, of: string) => (await read(claim, of)) ?? append(claim, of),
  };
}

function nameOf(claim: string, of: string): string {
  return `${claim} ${of}`;
}
