import type { FastifyInstance } from 'fastify';
import { RequestError } from '../../shared/request-error.ts';

/** Reads that can be made to wait for a write. */
export type Freshness = {
  /**
   * True as soon as what a read is answered from shows everything up to this position of the log, copies embedded in other
   * documents included; false when that took longer than requests may wait.
   */
  shows(position: bigint): Promise<boolean>;
  /** The position that is shown by now. */
  position(): bigint;
};

export const MIN_POSITION_HEADER = 'varve-min-position';
export const POSITION_HEADER = 'varve-position';

/** Longer than any log's positions: 64 bits have 20 digits. */
const POSITION = /^\d{1,20}$/;

/**
 * A GET with `Varve-Min-Position: N` is answered from position N of the log or a later one: it waits until the index shows
 * that, and is a 503 when it does not in time. N is the `Varve-Position` of a write's answer, of whichever process.
 */
export function awaitPositions(app: FastifyInstance, freshness: Freshness): void {
  app.addHook('onRequest', (request, _reply, done) => {
    const wanted = request.headers[MIN_POSITION_HEADER];
    if (wanted === undefined || (request.method !== 'GET' && request.method !== 'HEAD')) done();
    else reach(freshness, wanted).then(() => done(), done);
  });
}

async function reach(freshness: Freshness, wanted: string | readonly string[]): Promise<void> {
  if (typeof wanted !== 'string' || !POSITION.test(wanted)) {
    throw new RequestError(400, 'ValidationError', 'Invalid header Varve-Min-Position', {
      header: 'Varve-Min-Position',
      found: wanted,
      accepted: 'the Varve-Position of a write: a whole number',
    });
  }
  if (await freshness.shows(BigInt(wanted))) return;
  throw new RequestError(503, 'ServiceUnavailableError', `Position ${wanted} of the log is not shown yet`, {
    header: 'Varve-Min-Position',
    found: wanted,
    shown: String(freshness.position()),
  });
}
