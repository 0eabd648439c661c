import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Rights } from '../../../shared/access/rights.ts';
import { V4_HEADER } from '../answers/v4-format.ts';
import { MIN_POSITION_HEADER } from '../requests/await-position.ts';
import { wantsStream } from '../requests/wants-stream.ts';
import { type Delivery, findRemembered } from './cacheable.ts';
import { sendPublicly } from './send-read.ts';

export type RememberedReadsOptions = {
  /** Returns the current rights of callers without a token. */
  readonly publicRights: () => Rights;
  readonly deliveryOf: (rights: Rights) => Delivery;
  /** Returns path and query as routes get them. */
  readonly urlOf: (request: IncomingMessage) => string;
  /** Returns whether the checks before the route refuse a request. */
  readonly isRefused: (request: IncomingMessage) => boolean;
  /** Records an answer of a route: its status and milliseconds. */
  readonly measure: (route: string, status: number, ms: number) => void;
};

/**
 * Creates the function that answers requests with remembered answers: GET requests without a token. It returns false if it has not
 * answered. The requests bypass fastify, whose hooks would do nothing for them. `rememberedFirst` decides which servers use it.
 */
export function createRememberedReads(options: RememberedReadsOptions) {
  const { publicRights, deliveryOf, urlOf, isRefused, measure } = options;
  return (request: IncomingMessage, response: ServerResponse): boolean => {
    const { method, headers } = request;
    if (method !== 'GET' || hasSpecialAnswer(request) || isRefused(request)) return false;
    const started = performance.now();
    const found = findRemembered(deliveryOf(publicRights()), urlOf(request), headers['if-none-match']);
    if (found === undefined) return false;
    const status = sendPublicly(request, response, found.sent, found.body);
    response.once('finish', () => measure(found.route, status, performance.now() - started));
    return true;
  };
}

/** Returns whether the answer depends on more than the URL and the rights of everyone. */
function hasSpecialAnswer(request: IncomingMessage): boolean {
  const { headers } = request;
  if (headers.authorization !== undefined || headers[MIN_POSITION_HEADER] !== undefined) return true;
  return headers[V4_HEADER] !== undefined || wantsStream(request);
}
