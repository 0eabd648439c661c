import { hash } from 'node:crypto';
import type { CommandIdentity } from '../../shared/event-store/event-store.ts';

/** What several texts say together, as 32 hexadecimal digits: half of their SHA-256. */
export function digestOf(...texts: readonly string[]): string {
  return hash('sha256', JSON.stringify(texts)).slice(0, 32);
}

const OF_REQUEST = 'request-';

/** Of a request whose sender has no name: another request has another one, whatever key it came with. */
export function identityOfRequest(request: string): CommandIdentity {
  return { id: OF_REQUEST + request, request };
}

function isOfOneRequest({ id }: CommandIdentity): boolean {
  return id.startsWith(OF_REQUEST);
}

/** Of one of several commands that carry out one request: the same part again is the same command. */
export function partOf(identity: CommandIdentity | undefined, part: string): CommandIdentity | undefined {
  return identity === undefined ? undefined : { ...identity, id: digestOf(identity.id, part) };
}

/** Of a request that said more than its identity knew of when it was made, such as the content of files. */
export function withContent(
  identity: CommandIdentity | undefined,
  content: readonly string[],
): CommandIdentity | undefined {
  if (identity?.request === undefined) return identity;
  const request = digestOf(identity.request, ...content);
  return isOfOneRequest(identity) ? identityOfRequest(request) : { ...identity, request };
}
