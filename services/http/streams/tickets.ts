import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { RequestError } from '../../../shared/request-error.ts';

export type NewTicket = { readonly ticket: string; readonly expiresAt: string };

/** Tickets for clients that cannot send `Authorization`, such as EventSource. A ticket replaces the header of another request, once. */
export type StreamTickets = {
  /** Makes a ticket for this `Authorization`. Throws RequestError (503) while there is no leader. */
  create(authorization: string | undefined): NewTicket;
  /** Returns the `Authorization` of a ticket. Rejects with RequestError: 401 for an invalid one, 503 without a leader. */
  use(ticket: string): Promise<string | undefined>;
};

/** Tickets of one process, which makes, reads and counts them. */
export type Tickets = {
  /** Makes a ticket. `term`: the leader's term, during which the ticket can be used. */
  create(authorization: string | undefined, term: string): NewTicket;
  /** Returns the `Authorization` of a ticket. Throws RequestError (401) if it has expired or is not a ticket. */
  read(ticket: string): string | undefined;
  /** Marks a ticket as used, in the leader of this term. Throws RequestError (401) if it was used, has expired, or is of another term. */
  use(ticket: string, term: string): void;
};

export const TICKET_MS = 60_000;

const CIPHER = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** Creates the tickets of a process. Every process with the same key can read them. `now`: milliseconds since 1970. */
export function createTickets(key: Uint8Array, now: () => number = Date.now): Tickets {
  /**
   * Times by nonce of used tickets. At its time a ticket has expired, even if it was made when it was used. Earlier entries expire first.
   */
  const used = new Map<string, number>();
  const read = (ticket: string): Opened => {
    const opened = open(key, Buffer.from(ticket, 'base64url'));
    if (opened === undefined || opened.until <= now()) throw invalidTicket();
    return opened;
  };
  return {
    create(authorization, term) {
      const until = now() + TICKET_MS;
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv(CIPHER, key, nonce);
      const text = JSON.stringify([until, authorization ?? null, term]);
      const encrypted = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
      const ticket = Buffer.concat([nonce, cipher.getAuthTag(), encrypted]).toString('base64url');
      return { ticket, expiresAt: new Date(until).toISOString() };
    },
    read: (ticket) => read(ticket).authorization,
    use(ticket, term) {
      const { nonce, term: own } = read(ticket);
      forgetExpired(used, now());
      if (own !== term || used.has(nonce)) throw invalidTicket();
      used.set(nonce, now() + TICKET_MS);
    },
  };
}

type Opened = {
  readonly nonce: string;
  readonly until: number;
  readonly authorization: string | undefined;
  readonly term: string;
};

function open(key: Uint8Array, bytes: Buffer): Opened | undefined {
  if (bytes.length <= NONCE_BYTES + TAG_BYTES) return undefined;
  const nonce = bytes.subarray(0, NONCE_BYTES);
  try {
    const decipher = createDecipheriv(CIPHER, key, nonce).setAuthTag(
      bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES),
    );
    const text = Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()]);
    const [until, authorization, term] = JSON.parse(text.toString()) as [number, string | null, string];
    return { nonce: nonce.toString('base64url'), until, authorization: authorization ?? undefined, term };
  } catch {
    return undefined;
  }
}

function forgetExpired(used: Map<string, number>, now: number): void {
  for (const [nonce, until] of used) {
    if (until > now) return;
    used.delete(nonce);
  }
}

function invalidTicket(): RequestError {
  return new RequestError(
    'unauthorized',
    'The ticket is unknown, was used or has expired: ask for another one',
  );
}
