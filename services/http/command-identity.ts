import type { FastifyRequest } from 'fastify';
import type { CommandIdentity } from '../../shared/event-store/event-store.ts';
import { RequestError } from '../../shared/request-error.ts';
import { digestOf } from '../command/command-identity.ts';
import { COMMAND_HEADER, type CommandProof } from '../fleet/command-proof.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The JSON body as it was sent. */
    sentJson: string | undefined;
    /** What makes this write, sent again, the same one. */
    command: CommandIdentity | undefined;
    /** Another process carries it out. */
    isElsewhere: boolean;
  }
}

const KEY = /^[\x21-\x7e]{1,255}$/;

/**
 * Of a write with an `Idempotency-Key`: it follows from caller and key, so any process knows it again. Else of one that another
 * process has sent on. Throws RequestError (400) for a key that is none.
 */
export function commandIdentity(request: FastifyRequest, proof: CommandProof): CommandIdentity | undefined {
  const { headers, method, url, sentJson = '' } = request;
  const key = headers['idempotency-key'];
  if (key === undefined) {
    const id = proof.verify(headers[COMMAND_HEADER]);
    return id === undefined ? undefined : { id };
  }
  if (typeof key !== 'string' || !KEY.test(key)) {
    throw new RequestError(400, 'ValidationError', 'Invalid header Idempotency-Key', {
      header: 'Idempotency-Key',
      found: key,
      accepted: 'up to 255 visible ASCII characters, such as a UUID',
    });
  }
  const caller = headers.authorization?.trim() ?? '';
  return { id: digestOf('Idempotency-Key', caller, key), request: digestOf(method, url, sentJson) };
}
