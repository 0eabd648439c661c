import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Leader } from '../../shared/fleet/lease.ts';
import type { Membership } from './membership.ts';
import type { Seal } from './seal.ts';

/** Path of a process's identity, see presence.ts. */
export const LEADER_PATH = '/_varve/leader';
/** `<claim>.<owner>.<nonce>.<w or r>.<signature>`; `r`: the sender cannot write to the log. */
export const QUESTION_HEADER = 'varve-question';
/**
 * `<milliseconds>.<signature>`: the clock of the answering process, and a signature over it, the question and the body.
 */
export const PROOF_HEADER = 'varve-proof';

/** A process that has proved that it is the leader of this log. */
export type ProvenLeader = {
  readonly seal: Seal;
  /** The leader's clock minus this process's, both `performance.now()`. */
  readonly offset: number;
};

/**
 * Makes a question that only the leader can answer, for QUESTION_HEADER. Before the first question of a term, writes the nonce of this
 * process to the log. If that fails, the question asks the leader to write the nonce.
 */
export async function askLeader(membership: Membership, leader: Leader) {
  const { owner, questions } = membership;
  const shared = await membership.sealTo(leader);
  const asked = [
    leader.claim,
    owner,
    randomBytes(16).toString('base64url'),
    shared === undefined ? 'r' : 'w',
  ];
  const header = `${asked.join('.')}.${questions.sign(...asked)}`;
  return {
    header,
    /** Returns whether the sender of an answer has the access key and this claim, but is the leader of another log. */
    isOfOtherLog(proof: string | undefined, body: string): boolean {
      const [, signature] = /^other\.([\w-]{43})$/.exec(proof ?? '') ?? [];
      return signature !== undefined && questions.isSigned(signature, 'other log', header, body);
    },
    /** Returns the leader that sent an answer; undefined if its sender is not the leader of this log. */
    async verify(proof: string | undefined, body: string): Promise<ProvenLeader | undefined> {
      const [, now, signature] = /^(\d{1,15})\.([\w-]{43})$/.exec(proof ?? '') ?? [];
      if (now === undefined || signature === undefined) return undefined;
      const offset = Number(now) - performance.now();
      const seal = shared ?? (await look(membership, leader.claim, owner));
      if (seal?.isSigned(signature, 'leader', header, now, body) !== true) return undefined;
      return { seal, offset };
    },
  };
}

const LOOKS = 8;
const LOOK_EVERY_MS = 50;

/** Waits for a nonce that another process has just written. If it cannot be read soon, it is in another log. */
async function look(membership: Membership, claim: string, owner: string): Promise<Seal | undefined> {
  for (let looks = 1; ; looks++) {
    const seal = await membership.read(claim, owner);
    if (seal !== undefined || looks === LOOKS) return seal;
    await delay(LOOK_EVERY_MS);
  }
}

/**
 * Returns the proof for a question; undefined if the question is not signed with the access key, or is about a claim of another process.
 */
export async function answerQuestion(
  membership: Membership,
  header: string,
  body: string,
): Promise<string | undefined> {
  const [, text = '', signature = ''] = /^([\w.-]{1,200})\.([\w-]{43})$/.exec(header) ?? [];
  const asked = text.split('.');
  const [claim, owner, , mode] = asked;
  if (asked.length !== 4 || claim === undefined || owner === undefined) return undefined;
  // The claim may be an earlier one, because the sender may not have read the newest. It learns of that from the answers to its writes.
  if (!membership.hasClaimed(claim) || !membership.questions.isSigned(signature, ...asked)) return undefined;
  const seal = await (mode === 'r' ? membership.admit(claim, owner) : look(membership, claim, owner));
  const now = String(Math.round(performance.now()));
  // The sender uses another log. The signature shows that this process has the access key.
  if (seal === undefined) return `other.${membership.questions.sign('other log', header, body)}`;
  return `${now}.${seal.sign('leader', header, now, body)}`;
}
