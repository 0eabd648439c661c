import { hash } from 'node:crypto';
import type { CommandIdentity } from '../../shared/event-store/event-store.ts';

/** Digest of several texts together, as 32 hexadecimal digits: half of their SHA-256. */
export function digestOf(...texts: readonly string[]): string {
  return hash('sha256', JSON.stringify(texts)).slice(0, 32);
}

const OF_REQUEST = 'request-';

/** Identity of a request whose sender has no name: another request has another identity, whatever key it has. */
export function identityOfRequest(request: string): CommandIdentity {
  return { id: OF_REQUEST + request, request };
}

/** Identity of one of several commands of a request: the same part again is the same command. */
export function partOf(identity: CommandIdentity | undefined, part: string): CommandIdentity | undefined {
  return identity === undefined ? undefined : { ...identity, id: digestOf(identity.id, part) };
}

/** Identity that includes content unknown when the identity was made, such as that of files. */
export function withContent(
  identity: CommandIdentity | undefined,
  content: readonly string[],
): CommandIdentity | undefined {
  if (identity?.request === undefined) return identity;
  const request = digestOf(identity.request, ...content);
  return identity.id.startsWith(OF_REQUEST) ? identityOfRequest(request) : { ...identity, request };
}
