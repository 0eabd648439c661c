import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { LEADER_PATH } from './probe-leader.ts';

/** Of the lease it holds; undefined: none. */
type Part = { epoch(): number | undefined };

/** What a process says to others that ask whether it is still there. */
export type Presence = {
  /** Names this process; a restarted one has another. */
  readonly owner: string;
  /** Its part in the fleet is known from now on. */
  of(fleet: Part): void;
  /**
   * Answers `GET /_varve/leader` with owner and epoch (null while it does not lead), to everyone: neither is a secret. In every
   * phase of a process, while its data is being loaded too. False: the request is for another path.
   */
  answer(request: IncomingMessage, response: ServerResponse): boolean;
};

export function createPresence(): Presence {
  const owner = randomUUID();
  let fleet: Part | undefined;
  return {
    owner,
    of(joined) {
      fleet = joined;
    },
    answer({ url, method }, response) {
      if (url !== LEADER_PATH || method !== 'GET') return false;
      const body = JSON.stringify({ owner, epoch: fleet?.epoch() ?? null });
      response
        .writeHead(200, {
          'content-type': 'application/json; charset=utf-8',
          'content-length': Buffer.byteLength(body),
          'cache-control': 'no-store',
          'x-content-type-options': 'nosniff',
        })
        .end(body);
      return true;
    },
  };
}
