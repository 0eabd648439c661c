import type { FastifyInstance, FastifyRequest } from 'fastify';
import { mayAnything } from '../../../shared/access/rights.ts';
import { RequestError } from '../../../shared/request-error.ts';
import type { AccessControl } from '../../access/access-control.ts';

/** Positions of the log that the reads of a process show. A read can wait for a write. */
export type Freshness = {
  /**
   * Resolves with true as soon as reads show everything up to this position of the log, including copies in other documents. Resolves with
   * false after the time limit for requests.
   */
  shows(position: bigint): Promise<boolean>;
  /** Position that reads show now. */
  position(): bigint;
  /** Resolves with true as soon as reads show more than a position. Resolves with false after a while, because the caller may have left. */
  beyond(position: bigint): Promise<boolean>;
  /** Resolves with a position that the log has reached: `wanted` or a later one, if the log has reached `wanted`. */
  head(wanted: bigint): Promise<bigint>;
};

export const MIN_POSITION_HEADER = 'varve-min-position';
export const POSITION_HEADER = 'varve-position';

/** Maximum wait of a caller whose token is not known yet. */
const TOKENS_MS = 1_000;
/** Form of a position: 64 bits have at most 20 digits. */
const POSITION = /^\d{1,20}$/;

/**
 * Handles `Varve-Min-Position: N` of a GET: the answer shows position N of the log or a later one. The request waits until the index has
 * caught up; after the time limit it is a 503. N is the `Varve-Position` of the answer to a write, from any process. A position that the
 * log has not reached is a 400, because no write was answered with it. Callers without any right do not wait, and learn no positions.
 * Register this after the hooks that set the rights.
 */
export function awaitPositions(
  scope: FastifyInstance,
  freshness: Freshness,
  authenticate: (request: FastifyRequest) => Promise<void> | undefined,
): void {
  scope.addHook('onRequest', (request, _reply, done) => {
    const wanted = wantedPosition(request);
    if (wanted === undefined || !mayAnything(request.rights)) done();
    else
      reach(freshness, wanted)
        // The rights, too, have to be those at this position.
        .then(() => authenticate(request))
        .then(() => done())
        .catch(done);
  });
}

/** A position after the end of every log: `head` then resolves with the end. */
const ANY_POSITION = 2n ** 64n;

/**
 * Resolves when this process has applied the access events up to the wanted position, or to the end of the log if that is earlier. Without
 * a wanted position it waits for the end of the log, but only if the token may become valid then. Returns undefined if there is nothing to
 * wait for.
 */
export function awaitTokens(
  freshness: Pick<Freshness, 'head'>,
  access: Pick<AccessControl, 'mayBecomeValid' | 'applied'>,
  request: FastifyRequest,
): Promise<unknown> | undefined {
  const wanted = wantedPosition(request);
  const isAny = wanted === undefined && access.mayBecomeValid(request.headers.authorization);
  if (!isAny && (typeof wanted !== 'string' || !POSITION.test(wanted))) return undefined;
  const position = isAny ? ANY_POSITION : BigInt(String(wanted));
  return freshness
    .head(position)
    .then((head) => access.applied(position < head ? position : head, TOKENS_MS));
}

/** Resolves when reads show everything that the log has now, or after a time limit. */
export async function awaitAll(freshness: Freshness): Promise<void> {
  await freshness.shows(await freshness.head(ANY_POSITION));
}

function wantedPosition({ headers, method }: FastifyRequest): string | readonly string[] | undefined {
  return method === 'GET' || method === 'HEAD' ? headers[MIN_POSITION_HEADER] : undefined;
}

async function reach(freshness: Freshness, wanted: string | readonly string[]): Promise<void> {
  if (typeof wanted !== 'string' || !POSITION.test(wanted)) {
    throw new RequestError('invalid-header', 'Invalid header Varve-Min-Position', {
      header: 'Varve-Min-Position',
      found: wanted,
      accepted: 'the Varve-Position of a write: an integer',
    });
  }
  const position = BigInt(wanted);
  if (position > freshness.position() && position > (await freshness.head(position))) {
    throw new RequestError('position-unknown', `The log has not reached position ${wanted}`, {
      header: 'Varve-Min-Position',
      found: wanted,
      accepted: 'the Varve-Position of a write to this log',
    });
  }
  if (await freshness.shows(position)) return;
  throw new RequestError('position-not-shown', `Position ${wanted} of the log is not applied yet`, {
    header: 'Varve-Min-Position',
    found: wanted,
    shown: String(freshness.position()),
  });
}
