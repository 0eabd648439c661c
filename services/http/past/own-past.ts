import { Agent, type IncomingMessage, request as send } from 'node:http';
import { RequestError } from '../../../shared/request-error.ts';
import type { PastMoment, UsedPast } from '../../past/past-worlds.ts';
import { AS_OF } from '../../query/root-parameters.ts';
import type { Past, PastRead } from './past.ts';
import { PAST_HEADER, writeRights } from './rights-header.ts';

export type OwnPastOptions = {
  /** Rejects with RequestError (503) if it takes long to open the past. */
  readonly use: (moment: PastMoment) => Promise<UsedPast>;
  /** Secret of requests to its processes. */
  readonly secret: string;
};

/** Returns a function that answers reads from the processes that this one has started. */
export function answerFromOwn({ use, secret }: OwnPastOptions): Past['answer'] {
  const agent = new Agent({ keepAlive: true });
  return async (read) => {
    const world = await use(read.moment);
    try {
      const answer = await ask(agent, world.address, {
        ...read,
        headers: { ...read.headers, [PAST_HEADER]: writeRights(secret, read.rights) },
      });
      answer.once('close', world.done);
      return { statusCode: answer.statusCode ?? 502, headers: answer.headers, body: answer };
    } catch (error) {
      world.done();
      throw error;
    }
  };
}

/** Maximum time without a byte of the answer. */
const ANSWER_MS = 60_000;

/** Resolves with the answer of the past. Rejects with RequestError (503) if its process has ended. */
function ask(
  agent: Agent,
  address: string,
  { method, url: path, headers, signal }: PastRead,
): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const sent = send(address, { agent, method, path, headers, signal, timeout: ANSWER_MS }, resolve);
  sent.once('timeout', () => sent.destroy(new Error('there is no answer')));
  sent.on('error', (cause) => {
    const message = 'The process with the content of that moment has ended: try again';
    reject(new RequestError('past-opening', message, { source: 'query', param: AS_OF }, { cause }));
  });
  sent.end();
  return promise;
}
