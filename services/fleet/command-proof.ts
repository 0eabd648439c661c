import { createHash, randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { Membership } from './membership.ts';
import type { ProvenLeader } from './question.ts';
import type { Seal } from './seal.ts';

/** Names a forwarded command, and proves its sender: `2.<claim>.<owner>.<nonce>.<expires>.<command>.<body>.<signature>`. */
export const COMMAND_HEADER = 'varve-command';
/** Header of the answer to such a command: `<milliseconds>.<signature>`. */
export const ANSWER_HEADER = 'varve-answer';
/** Trailer of a body that was sent as a stream. */
export const DIGEST_TRAILER = 'varve-digest';

/** Lifetime of a proof by the leader's clock. The sender knows that clock, so the clocks of two machines need not agree. */
const LIFETIME_MS = 15_000;

/** Parts of a request that a proof covers besides its body. */
export type RequestHead = {
  readonly method: string;
  /** The request target: path and query string. */
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
};

/** Body of a command: the digest of a text, or the length of a stream in bytes. `length` is empty if it is not known. */
export type ProvedBody =
  | { readonly kind: 'text'; readonly digest: string }
  | { readonly kind: 'stream'; readonly length: string };

/** A signed command on its way. */
export type SignedCommand = ReturnType<typeof signCommand>;

export type SignedAnswer = {
  readonly status: number;
  readonly position: string;
  readonly body: Uint8Array | string;
};

/** A command that another process of this log has sent here. */
export type ForwardedCommand = ReturnType<typeof forwardedCommand>;

export type CommandVerdict =
  /** The request has no such header, or a header of an earlier release. It comes from a client. */
  | { readonly kind: 'none' }
  /** `command` is present if a process of this log sent it, but for an earlier term or too late. */
  | { readonly kind: 'refused'; readonly command?: ForwardedCommand }
  | { readonly kind: 'forwarded'; readonly command: ForwardedCommand };

/** Returns the SHA-256 of a body's bytes in base64url, as in the proof of a command. */
export function digestOfBody(body: Uint8Array | string): string {
  return createHash('sha256').update(body).digest('base64url');
}

/**
 * Signs a command for one leader and one term. The signature covers the head of the request and the body's digest, or the length of a
 * stream, and expires.
 */
export function signCommand(
  { seal, offset }: ProvenLeader,
  command: { readonly id: string; readonly claim: string; readonly owner: string },
  head: RequestHead,
  body: ProvedBody,
) {
  const { id, claim, owner } = command;
  const nonce = randomBytes(16).toString('base64url');
  const expires = String(Math.round(performance.now() + offset) + LIFETIME_MS);
  const proved = body.kind === 'text' ? `d${body.digest}` : `l${body.length}`;
  const fields = ['2', claim, owner, nonce, expires, id, proved];
  return {
    header: [...fields, seal.sign('command', ...fields, ...partsOf(head))].join('.'),
    /** Returns the trailer of a stream. */
    trailer: (digest: string, length: number) => seal.sign('trailer', nonce, digest, String(length)),
    /** Returns the time of the answer by the leader's clock; undefined if the leader did not sign this answer. */
    verify(answer: SignedAnswer, header: string | undefined): number | undefined {
      const [, now, signature] = /^(\d{1,15})\.([\w-]{43})$/.exec(header ?? '') ?? [];
      if (now === undefined || signature === undefined) return undefined;
      return seal.isSigned(signature, 'answer', nonce, now, ...answerParts(answer)) ? Number(now) : undefined;
    },
  };
}

const HEADER =
  /^2\.([\da-f-]{36})\.([\da-f-]{36})\.([\w-]{22})\.(\d{1,15})\.([\w-]{1,64})\.(d[\w-]{43}|l\d{0,15})\.([\w-]{43})$/;

/** Verifies commands that other processes forward. A proof is valid once. */
export function createCommandVerifier(membership: Membership): (head: RequestHead) => CommandVerdict {
  const used = rememberFor(2 * LIFETIME_MS);
  return (head) => {
    const header = String(head.headers[COMMAND_HEADER] ?? '');
    if (!header.startsWith('2.')) return { kind: 'none' };
    const [, claim = '', owner = '', nonce = '', expires = '', id = '', proved = '', signature = ''] =
      HEADER.exec(header) ?? [];
    // This process may know the seal only because it has signed the command itself, for another leader.
    const seal = membership.hasClaimed(claim) ? membership.known(claim, owner) : undefined;
    const fields = ['2', claim, owner, nonce, expires, id, proved];
    if (seal?.isSigned(signature, 'command', ...fields, ...partsOf(head)) !== true)
      return { kind: 'refused' };
    const command = forwardedCommand(seal, nonce, id, proved);
    const left = Number(expires) - performance.now();
    const isInTime = left > 0 && left <= 2 * LIFETIME_MS;
    if (claim !== membership.claim() || !isInTime) return { kind: 'refused', command };
    return used(nonce) ? { kind: 'refused' } : { kind: 'forwarded', command };
  };
}

function forwardedCommand(seal: Seal, nonce: string, id: string, proved: string) {
  const rest = proved.slice(1);
  const body: ProvedBody = proved.startsWith('d')
    ? { kind: 'text', digest: rest }
    : { kind: 'stream', length: rest };
  return {
    id,
    body,
    /** Returns whether a stream was received as it was sent. */
    isWhole: (trailer: unknown, digest: string, length: number) =>
      (rest === '' || rest === String(length)) &&
      seal.isSigned(String(trailer), 'trailer', nonce, digest, String(length)),
    /** Returns the header of the answer. */
    sign(answer: SignedAnswer): string {
      const now = String(Math.round(performance.now()));
      return `${now}.${seal.sign('answer', nonce, now, ...answerParts(answer))}`;
    },
  };
}

/** Headers that a proof covers: the sender, the form of the body, and the name of the command. */
const COVERED = ['authorization', 'content-type', 'idempotency-key'] as const;

function partsOf({ method, url, headers }: RequestHead): readonly string[] {
  return [method, url, ...COVERED.map((name) => String(headers[name] ?? ''))];
}

function answerParts({ status, position, body }: SignedAnswer): readonly string[] {
  return [String(status), position, digestOfBody(body)];
}

/** Returns a function that returns whether it was called with the same text before. It remembers a text for at least `ms` milliseconds. */
function rememberFor(ms: number): (text: string) => boolean {
  let recent = new Set<string>();
  let earlier = new Set<string>();
  let since = performance.now();
  return (text) => {
    if (performance.now() - since > ms) {
      earlier = performance.now() - since > 2 * ms ? new Set() : recent;
      recent = new Set();
      since = performance.now();
    }
    if (recent.has(text) || earlier.has(text)) return true;
    recent.add(text);
    return false;
  };
}
