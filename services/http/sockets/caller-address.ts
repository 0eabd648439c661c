import type { IncomingMessage, RequestListener } from 'node:http';
import { isSameText, signText } from '../../../shared/text-digest.ts';

/** Header of a request that a worker passes on to another one: the address that sent it, and a proof that a worker wrote the header. */
const HEADER = 'varve-caller';

/** The address of a request's caller, from one worker of a server to another. */
export type CallerAddress = ReturnType<typeof createCallerAddress>;

/** `secret`: known to the workers of one supervisor only. */
export function createCallerAddress(secret: string) {
  const key = Buffer.from(secret);
  const sign = (address: string) => signText(key, `caller ${address}`);

  function provenAddress({ headers }: IncomingMessage): string | undefined {
    const [address = '', proof = ''] = String(headers[HEADER] ?? '').split(' ');
    return proof !== '' && isSameText(proof, sign(address)) ? address : undefined;
  }

  return {
    /** Returns the header for a request that is passed on. */
    headersOf(request: IncomingMessage): Readonly<Record<string, string>> {
      const address = provenAddress(request) ?? request.socket.remoteAddress ?? '';
      return { [HEADER]: `${address} ${sign(address)}` };
    },
    /**
     * Returns `handler` for requests that may come from another worker: their connection then has the address of the caller, for limits and
     * for `--trust-proxy`. Only a worker sends on such a connection, one request after the other.
     */
    admit(handler: RequestListener): RequestListener {
      return (request, response) => {
        if (request.headers[HEADER] !== undefined) {
          const value = provenAddress(request);
          if (value !== undefined)
            Object.defineProperty(request.socket, 'remoteAddress', { value, configurable: true });
        }
        handler(request, response);
      };
    },
  };
}
