import { hash } from 'node:crypto';
import type { CommandIdentity } from '../../shared/event-store/event-store.ts';

/** Digest of several texts together, as 32 hexadecimal digits: half of their SHA-256. */
export function digestOf(...texts: readonly string[]): string {
  return hash('sha256', JSON.stringify(texts)).slice(0, 32);
}

const OF_REQUEST = 'request-';

/** Returns the identity of a request of an anonymous sender. Different requests have different identities, even with the same key. */
export function identityOfRequest(request: string): CommandIdentity {
  return { id: OF_REQUEST + request, request };
}

/** Returns the identity of one of several commands of a request. If the part is repeated, it is the same command. */
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
