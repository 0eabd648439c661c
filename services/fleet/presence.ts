import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { defined } from '../../shared/defined.ts';
import type { Fleet } from './fleet.ts';
import type { Membership } from './membership.ts';
import { answerQuestion, LEADER_PATH, PROOF_HEADER, QUESTION_HEADER } from './question.ts';

/** Answers of a process to other processes that ask whether it is alive. */
export type Presence = ReturnType<typeof createPresence>;

/** Creates the presence of a process under a new random name. Until `of` is called, it answers that it is not the leader. */
export function createPresence() {
  const owner = randomUUID();
  let fleet: Pick<Fleet, 'epoch'> | undefined;
  let membership: Membership | undefined;
  let hasLeft = false;
  const respond = async ({ headers }: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = JSON.stringify({ owner, epoch: fleet?.epoch() ?? null });
    const question = headers[QUESTION_HEADER];
    const proof =
      membership && typeof question === 'string'
        ? await answerQuestion(membership, question, body)
        : undefined;
    response
      .writeHead(200, {
        'content-type': 'application/json; charset=utf-8',
        'content-length': Buffer.byteLength(body),
        'cache-control': 'no-store',
        'x-content-type-options': 'nosniff',
        ...defined({ [PROOF_HEADER]: proof }),
      })
      .end(body);
  };
  return {
    /** Names this process. A restarted process has another name. */
    owner,
    /** Lets this process prove its identity. Must be called before the process can claim the lease. */
    join(joined: Membership): void {
      membership = joined;
    },
    /** Sets the part of this process in the fleet. */
    of(joined: Pick<Fleet, 'epoch'>): void {
      fleet = joined;
    },
    /** Ends the answers of this process: another process answers at the same address. */
    leave(): void {
      hasLeft = true;
    },
    /**
     * Answers `GET /_varve/leader` with owner and epoch (null unless this process is the leader). Neither is secret, so everyone gets the
     * answer. A question of another process gets the proof that this process is the leader. The answer comes in every phase, also while the
     * data is being loaded. Returns false for another path, and after `leave`.
     */
    answer(request: IncomingMessage, response: ServerResponse): boolean {
      if (hasLeft || request.url !== LEADER_PATH || request.method !== 'GET') return false;
      // The proof needs the log, which cannot be read now.
      respond(request, response).catch(() => response.writeHead(503, { 'content-length': 0 }).end());
      return true;
    },
  };
}
