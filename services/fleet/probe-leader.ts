import * as z from 'zod';
import type { Leader } from '../../shared/fleet/lease.ts';
import type { Membership } from './membership.ts';
import { askLeader, LEADER_PATH, PROOF_HEADER, QUESTION_HEADER } from './question.ts';

/**
 * `gone`: the address has no process, another process, or a process of another log. `silent`: there is no usable answer, so nothing is
 * known.
 */
export type Probe = 'alive' | 'gone' | 'silent';

const PRESENCE = z.object({ owner: z.string() });
/** Codes of errors for an address where no process listens. */
const NOBODY = new Set(['ECONNREFUSED', 'ECONNRESET']);

/**
 * Asks the process at a leader's address whether it is that leader, and lets it prove that it uses this log. Without a membership it need
 * not prove this.
 */
export async function probeLeader(
  leader: Leader,
  timeoutMs: number,
  membership: Membership | undefined,
): Promise<Probe> {
  try {
    const ask = (headers: Record<string, string>) =>
      fetch(new URL(LEADER_PATH, leader.address), {
        headers,
        redirect: 'error',
        signal: AbortSignal.timeout(timeoutMs),
      });
    if (membership?.known(leader.claim, membership.owner) === undefined) {
      // The first request has no question, because a question needs a nonce in the log, and there may be no process to ask.
      const presence = PRESENCE.safeParse(await (await ask({})).json());
      if (!presence.success) return 'silent';
      if (presence.data.owner !== leader.owner) return 'gone';
    }
    if (membership === undefined) return 'alive';
    const question = await askLeader(membership, leader);
    const answer = await ask({ [QUESTION_HEADER]: question.header });
    const proof = answer.headers.get(PROOF_HEADER) ?? undefined;
    if (answer.status !== 200) return 'silent';
    const text = await answer.text();
    if ((await question.verify(proof, text)) !== undefined) return 'alive';
    if (question.isOfOtherLog(proof, text)) membership.noteCopy(true);
    return 'gone';
  } catch (error) {
    const cause = (error as { readonly cause?: { readonly code?: string } }).cause;
    return NOBODY.has(cause?.code ?? '') ? 'gone' : 'silent';
  }
}
