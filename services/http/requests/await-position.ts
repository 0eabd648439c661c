import type { FastifyInstance, FastifyRequest } from 'fastify';
import { mayAnything } from '../../../shared/access/rights.ts';
import { RequestError } from '../../../shared/request-error.ts';
import type { AccessControl } from '../../access/access-control.ts';

/** Reads that can be made to wait for a write. */
export type Freshness = {
  /**
   * Resolves with true as soon as reads show everything up to this position of the log, including copies in other documents. Resolves with
   * false after the time limit for requests.
   */
  shows(position: bigint): Promise<boolean>;
  /** Position that reads show now. */
  position(): bigint;
  /** Resolves with true as soon as reads show more than a position, and with false after a while: nobody may wait any more. */
  beyond(position: bigint): Promise<boolean>;
  /** A position that the log has reached: at least `wanted` if the log has reached that. */
  head(wanted: bigint): Promise<bigint>;
};

export const MIN_POSITION_HEADER = 'varve-min-position';
export const POSITION_HEADER = 'varve-position';

/** Callers without a known token wait no longer than this. */
const TOKENS_MS = 1_000;
/** Longer than any log's positions: 64 bits have 20 digits. */
const POSITION = /^\d{1,20}$/;

/**
 * Handles `Varve-Min-Position: N` of a GET: the answer shows position N of the log or a later one. It waits until the index has caught up,
 * and is a 503 after the time limit. N is the `Varve-Position` of a write's answer, from any process. A position that the log has not
 * reached is a 400: no write was answered with it. For scopes that know the rights of their callers: a caller without rights is refused
 * anyway, and learns no positions.
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
        // The rights too are those of the position.
        .then(() => authenticate(request))
        .then(() => done())
        .catch(done);
  });
}

/** Later than every log's end, so that the end is read. */
const ANY_POSITION = 2n ** 64n;

/**
 * Resolves when the tokens of the wanted position are valid, as far as the log has reached it; if no position is wanted, when all current
 * ones are. Undefined for a request whose token cannot become valid that way.
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

/** Resolves when everything is shown that the log has by now, or a while later. */
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
