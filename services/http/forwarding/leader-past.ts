import { buffer } from 'node:stream/consumers';
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { mayReadHistory } from '../../../shared/access/rights.ts';
import { defined } from '../../../shared/defined.ts';
import { RequestError } from '../../../shared/request-error.ts';
import { NotLeading } from '../../command/not-leading.ts';
import { JSON_HEADERS } from '../answers/responses.ts';
import type { Past, PastAnswer, PastRead } from '../past/past.ts';
import { acceptForLeader } from './accept-for-leader.ts';
import { type ForwardingOptions, sendToLeader } from './forward-writes.ts';
import { answerHeaders, createSender, type SentAnswer } from './send-on.ts';

/** Path at which the leader answers reads of the past for processes without a data directory. */
const PATH = '/_varve/past';

const HEADERS = z.record(z.string(), z.union([z.string(), z.array(z.string())]));

/** Body of such a request: the read, without its caller. */
const ASKED = z.object({
  position: z.string().regex(/^\d{1,20}$/),
  method: z.enum(['GET', 'HEAD']),
  url: z.string(),
  headers: HEADERS,
});

/** Body of the answer. `body`: base64. */
const ANSWERED = z.object({ statusCode: z.number(), headers: HEADERS, body: z.string() });

/** Accepts reads of the past from other processes of the log. The rights are those of the caller, whose token they send. */
export function acceptPastReads(
  scope: FastifyInstance,
  options: Pick<ForwardingOptions, 'fleet' | 'commands'> & { readonly past: Past | undefined },
): void {
  scope.post(PATH, { config: { members: Object.keys(ASKED.shape) } }, async (request, reply) => {
    acceptForLeader(options, request);
    if (!mayReadHistory(request.rights)) throw new RequestError('not-found', 'Not Found');
    if (options.past === undefined)
      throw new RequestError('not-supported', 'The leader of this log has no past', {
        accepted: 'nothing: set --past-worlds of the leader',
      });
    const { position, ...asked } = ASKED.parse(request.body);
    const { rights, headers } = request;
    const signal = AbortSignal.timeout(ANSWER_MS);
    const { authorization } = headers;
    const read = { ...asked, moment: { position: BigInt(position) }, rights, authorization, signal };
    const answer = await options.past.answer(read);
    reply.headers(JSON_HEADERS);
    return JSON.stringify({ ...answer, body: (await bytesOf(answer)).toString('base64') });
  });
}

const ANSWER_MS = 60_000;

async function bytesOf({ body }: PastAnswer): Promise<Buffer> {
  return Buffer.isBuffer(body) ? body : buffer(body);
}

/** Creates the way to the pasts of the leader, for a process without a data directory. */
export function answerFromLeader({
  fleet,
  membership,
  newCommandId,
}: Pick<ForwardingOptions, 'fleet' | 'membership' | 'newCommandId'>): Pick<Past, 'answer'> & {
  close(): void;
} {
  const sender = createSender(membership);
  return {
    async answer({ moment, method, url, headers, authorization }: PastRead): Promise<PastAnswer> {
      const body = JSON.stringify({ position: String(moment.position), method, url, headers });
      const sent = { 'content-type': 'application/json', ...defined({ authorization }) };
      const asked = { method: 'POST', url: PATH, headers: sent, body, command: newCommandId() };
      const answer = await sendToLeader({ fleet }, sender, asked);
      if (answer === 'here') throw new NotLeading();
      return answer.statusCode === 200 ? readAnswer(answer) : refusal(answer);
    },
    close: sender.close,
  };
}

function readAnswer(answer: SentAnswer): PastAnswer {
  const { body, ...head } = ANSWERED.parse(JSON.parse(answer.body.toString()));
  return { ...head, body: Buffer.from(body, 'base64') };
}

/** Returns the refusal of the leader, as the client gets it. */
function refusal(answer: SentAnswer): PastAnswer {
  return { statusCode: answer.statusCode, headers: answerHeaders(answer), body: answer.body };
}
