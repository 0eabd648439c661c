import { setTimeout as delay } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import { RequestError } from '../../../shared/request-error.ts';
import { JOB_REQUEST, type Jobs } from '../../operator/jobs.ts';
import type { JobAnswer, LeaderLink } from '../../operator/operation.ts';
import { SECURITY_HEADERS } from '../answers/responses.ts';
import { acceptForLeader } from './accept-for-leader.ts';
import { type ForwardingOptions, sendToLeader } from './forward-writes.ts';
import { createSender } from './send-on.ts';

const PATH = '/_varve/operations';
/** Time for which an operation waits for a leader. A write waits for a shorter time. */
const LEADER_MS = 60_000;
const LOOK_EVERY_MS = 200;

const NO_LEADER = 'there is no leader of this log: run the command again when a process of it can lead';

/** Accepts operations that other processes of the log send to the leader. Other senders get a 404. */
export function acceptOperations(
  scope: FastifyInstance,
  { fleet, commands, jobs }: Pick<ForwardingOptions, 'fleet' | 'commands'> & { readonly jobs: Jobs },
): void {
  const members = ['id', 'name', 'form', 'after', 'directory'];
  scope.post(PATH, { config: { members } }, async (request, reply) => {
    acceptForLeader({ fleet, commands }, request);
    const asked = JOB_REQUEST.parse(request.body);
    reply.headers(SECURITY_HEADERS).type('application/json; charset=utf-8');
    return JSON.stringify(await jobs.answer(asked));
  });
}

/** Creates the way to the leader for operations of this process. */
export function linkLeader(
  options: Pick<ForwardingOptions, 'fleet' | 'membership' | 'newCommandId'>,
): LeaderLink & { close(): Promise<void> } {
  const { fleet, membership, newCommandId } = options;
  const sender = createSender(membership);
  return {
    async locate(signal) {
      const deadline = performance.now() + LEADER_MS;
      for (;;) {
        const { kind } = fleet.leader();
        if (kind !== 'nobody') return kind;
        signal.throwIfAborted();
        if (performance.now() > deadline) throw new Error(NO_LEADER);
        await fleet.changed(LOOK_EVERY_MS);
      }
    },
    async ask(request) {
      const body = JSON.stringify(request);
      const headers = { 'content-type': 'application/json' };
      const deadline = performance.now() + LEADER_MS;
      for (;;) {
        const write = { method: 'POST', url: PATH, headers, body, command: newCommandId() };
        const answer = await sendToLeader({ fleet }, sender, write).catch((error: unknown) => {
          if (!(error instanceof RequestError) || performance.now() > deadline) throw error;
          return undefined;
        });
        if (answer === 'here') return 'here';
        if (answer?.statusCode === 200) return JSON.parse(answer.body.toString()) as JobAnswer;
        if (answer !== undefined && performance.now() > deadline) throw refusedBy(answer.statusCode);
        await delay(LOOK_EVERY_MS);
      }
    },
    close: async () => sender.close(),
  };
}

function refusedBy(status: number): Error {
  return new Error(
    `the leader answered ${status}: run the command on its data directory, or upgrade all processes of the log`,
  );
}
