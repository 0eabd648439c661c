import type { FastifyInstance, FastifyRequest } from 'fastify';
import { mayAnything } from '../../shared/access/rights.ts';
import { RequestError } from '../../shared/request-error.ts';
import type { AccessControl } from '../access/access-control.ts';

/** Reads that can be made to wait for a write. */
export type Freshness = {
  /**
   * True as soon as what a read is answered from shows everything up to this position of the log, copies embedded in other
   * documents included; false when that took longer than requests may wait.
   */
  shows(position: bigint): Promise<boolean>;
  /** The position that is shown by now. */
  position(): bigint;
  /** A position that the log has reached: at least `wanted` if the log has reached that by now. */
  head(wanted: bigint): Promise<bigint>;
};

export const MIN_POSITION_HEADER = 'varve-min-position';
export const POSITION_HEADER = 'varve-position';

/** Whoever has no token that is known waits no longer. */
const TOKENS_MS = 1_000;
/** Longer than any log's positions: 64 bits have 20 digits. */
const POSITION = /^\d{1,20}$/;

/**
 * A GET with `Varve-Min-Position: N` is answered from position N of the log or a later one: it waits until the index shows
 * that, and is a 503 when it does not in time. N is the `Varve-Position` of a write's answer, of whichever process. A position
 * that the log has not reached is a 400: no write was answered with it. For scopes that know the rights of their callers: who has
 * none is refused anyway, and learns nothing of positions.
 */
export function awaitPositions(scope: FastifyInstance, freshness: Freshness, access: AccessControl): void {
  scope.addHook('onRequest', (request, _reply, done) => {
    const wanted = wantedPosition(request);
    if (wanted === undefined || !mayAnything(request.rights)) done();
    else
      reach(freshness, wanted)
        .then(() => {
          // The rights too are those of the position.
          request.rights = access.authenticate(request.headers.authorization);
          done();
        })
        .catch(done);
  });
}

/** Behind every log's end: its end is read. */
const ANY_POSITION = 2n ** 64n;

/**
 * Resolves when the tokens of the wanted position count, as far as the log has reached it; where no position is wanted, all that
 * there are by now. Undefined for a request whose token cannot become valid by that.
 */
export function awaitTokens(
  freshness: Freshness,
  access: AccessControl,
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

function wantedPosition({ headers, method }: FastifyRequest): string | readonly string[] | undefined {
  return method === 'GET' || method === 'HEAD' ? headers[MIN_POSITION_HEADER] : undefined;
}

async function reach(freshness: Freshness, wanted: string | readonly string[]): Promise<void> {
  if (typeof wanted !== 'string' || !POSITION.test(wanted)) {
    throw new RequestError(400, 'ValidationError', 'Invalid header Varve-Min-Position', {
      header: 'Varve-Min-Position',
      found: wanted,
      accepted: 'the Varve-Position of a write: a whole number',
    });
  }
  const position = BigInt(wanted);
  if (position > freshness.position() && position > (await freshness.head(position))) {
    throw new RequestError(400, 'ValidationError', `The log has not reached position ${wanted}`, {
      header: 'Varve-Min-Position',
      found: wanted,
      accepted: 'the Varve-Position of a write to this log',
    });
  }
  if (await freshness.shows(position)) return;
  throw new RequestError(503, 'ServiceUnavailableError', `Position ${wanted} of the log is not shown yet`, {
    header: 'Varve-Min-Position',
    found: wanted,
    shown: String(freshness.position()),
  });
}
