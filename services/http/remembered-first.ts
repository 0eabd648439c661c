import type { RequestListener } from 'node:http';
import { createRememberedReads } from './api/remembered-reads.ts';
import { createDevelopmentGuard } from './requests/guard-development.ts';
import type { OtherMeasures, RequestMeters } from './requests/measure-requests.ts';
import type { ProtectionOptions } from './requests/protect.ts';
import { rewritePrefix } from './requests/rewrite-prefix.ts';
import type { ServedApi } from './served-api.ts';

export type RememberedFirstOptions = Pick<ServedApi, 'access' | 'apiFor'> & {
  readonly apiPrefix: string;
  readonly answersReads: boolean;
  readonly protection: Pick<ProtectionOptions, 'corsOrigins' | 'rateLimit'>;
  readonly meters: RequestMeters;
};

/**
 * Returns a listener that sends remembered answers, and passes all other requests to `routing`. Returns `routing` itself if each request
 * has a limit, a span or headers of its own.
 */
export function rememberedFirst(
  routing: RequestListener,
  { access, apiFor, apiPrefix, answersReads, protection, meters }: RememberedFirstOptions,
  { remembered }: OtherMeasures,
): RequestListener {
  const { corsOrigins, rateLimit } = protection;
  if (!answersReads || corsOrigins.length > 0 || rateLimit > 0 || meters.tracing !== undefined)
    return routing;
  // Without a prefix only the router knows which paths belong to the server itself.
  if (apiPrefix === '') return routing;
  const rewrite = rewritePrefix(apiPrefix, new Set());
  const refusalOf = createDevelopmentGuard(access, corsOrigins);
  const answer = createRememberedReads({
    publicRights: () => access.authenticate(undefined),
    deliveryOf: (rights) => apiFor(rights).delivery,
    urlOf: (request) => rewrite?.(request) ?? request.url ?? '',
    isRefused: (request) => refusalOf(request) !== undefined,
    measure: remembered,
  });
  return (request, response) => {
    if (!answer(request, response)) routing(request, response);
  };
}
