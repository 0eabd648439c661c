import type { FastifyRequest } from 'fastify';
import type { CommandIdentity } from '../../../shared/event-store/event-store.ts';
import { RequestError } from '../../../shared/request-error.ts';
import { digestOf, identityOfRequest } from '../../command/command-identity.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The JSON body as it was sent. */
    sentJson: string | undefined;
    /** Identity of this write. A repeated write has the same identity. */
    command: CommandIdentity | undefined;
    /** True: another process carries the write out. */
    isElsewhere: boolean;
    /** Checks the body of a form that another process has forwarded (see watchBody). */
    receivedWhole: (() => Promise<void>) | undefined;
  }
}

const KEY = /^[\x21-\x7e]{1,255}$/;

/**
 * Returns the identity of a write. It is made of the caller and the `Idempotency-Key`, so every process recognises it. Without a key it is
 * `forwarded`, the identity that another process assigned. Callers without a token have no name: their key is valid for one request only,
 * so that no caller can reuse another's key. In development mode all callers are one. `conceal` returns the text that represents a body.
 * Throws RequestError (400) for an invalid key.
 */
export function commandIdentity(
  request: FastifyRequest,
  forwarded: string | undefined,
  conceal: (url: string, body: string) => string,
): CommandIdentity | undefined {
  const { headers, method, url } = request;
  const key = headers['idempotency-key'];
  if (key === undefined) {
    return forwarded === undefined ? undefined : { id: forwarded };
  }
  if (typeof key !== 'string' || !KEY.test(key)) {
    throw new RequestError('invalid-header', 'Invalid header Idempotency-Key', {
      header: 'Idempotency-Key',
      found: key,
      accepted: 'up to 255 visible ASCII characters, such as a UUID',
    });
  }
  const caller = headers.authorization?.trim() ?? '';
  const sentJson = conceal(url, request.sentJson ?? '');
  const isNamed = /^bearer /i.test(caller) || request.rights.kind === 'full-access';
  if (!isNamed) return identityOfRequest(digestOf('Idempotency-Key', key, method, url, sentJson));
  return { id: digestOf('Idempotency-Key', caller, key), request: digestOf(method, url, sentJson) };
}
