import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { RequestError } from '../../../shared/request-error.ts';

/** Lets a client that sends no `Authorization`, such as EventSource, use that of another request once. */
export type Tickets = {
  create(authorization: string | undefined): { readonly ticket: string; readonly expiresAt: string };
  /** Returns the `Authorization` of a ticket. Throws RequestError (401) if it was used, has expired or is not a ticket. */
  use(ticket: string): string | undefined;
};

export const TICKET_MS = 60_000;

const CIPHER = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** Tickets are valid in every process with the key. Each process accepts a ticket once. `now`: milliseconds since 1970. */
export function createTickets(key: Uint8Array, now: () => number = Date.now): Tickets {
  /** Used tickets by nonce, with the time when they expire. In order of use. */
  const used = new Map<string, number>();
  return {
    create(authorization) {
      const until = now() + TICKET_MS;
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv(CIPHER, key, nonce);
      const text = JSON.stringify([until, authorization ?? null]);
      const encrypted = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
      const ticket = Buffer.concat([nonce, cipher.getAuthTag(), encrypted]).toString('base64url');
      return { ticket, expiresAt: new Date(until).toISOString() };
    },
    use(ticket) {
      const bytes = Buffer.from(ticket, 'base64url');
      const [until, authorization] = open(key, bytes) ?? [0, null];
      const nonce = bytes.subarray(0, NONCE_BYTES).toString('base64url');
      forgetExpired(used, now());
      if (until <= now() || used.has(nonce)) throw invalidTicket();
      used.set(nonce, until);
      return authorization ?? undefined;
    },
  };
}

function open(key: Uint8Array, bytes: Buffer): [number, string | null] | undefined {
  if (bytes.length <= NONCE_BYTES + TAG_BYTES) return undefined;
  try {
    const decipher = createDecipheriv(CIPHER, key, bytes.subarray(0, NONCE_BYTES)).setAuthTag(
      bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES),
    );
    const text = Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()]);
    return JSON.parse(text.toString()) as [number, string | null];
  } catch {
    return undefined;
  }
}

function forgetExpired(used: Map<string, number>, now: number): void {
  for (const [nonce, until] of used) if (until <= now) used.delete(nonce);
}

function invalidTicket(): RequestError {
  return new RequestError(
    'unauthorized',
    'The ticket is unknown, was used or has expired: ask for another one',
  );
}
