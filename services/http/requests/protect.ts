import type { FastifyInstance, FastifyRequest } from 'fastify';
import { defined } from '../../../shared/defined.ts';
import { RequestError } from '../../../shared/request-error.ts';
import { type CountRequest, sharedRateStore } from './shared-rate-store.ts';

export type ProtectionOptions = {
  /** Origins of pages that may call from a browser; `*` is every one. Empty: none. */
  readonly corsOrigins: readonly string[];
  /** Requests a minute from one address; 0: any number. */
  readonly rateLimit: number;
  /** False while the server tests itself at its start, and writes its examples. */
  readonly isLimiting: () => boolean;
  /** True for a request of another process of the log, which has counted it already. */
  readonly isCounted: (request: FastifyRequest) => boolean;
  /** Counts for all processes of the server. Absent: this process counts its own. */
  readonly count?: CountRequest | undefined;
};

declare module 'fastify' {
  interface FastifyInstance {
    /** True if answers have headers that depend on their request, which a read must then not omit. */
    addsHeaders: boolean;
  }
}

const NO_HEADERS = {
  'x-ratelimit-limit': false,
  'x-ratelimit-remaining': false,
  'x-ratelimit-reset': false,
};

/** Health checks decide whether this process lives: they are never limited. */
export const HEALTH_PATH = '/_health';

/** Registers the first checks of a request. Without these settings a request passes nothing additional. */
export async function protect(app: FastifyInstance, options: ProtectionOptions): Promise<void> {
  const { corsOrigins, rateLimit: max, isLimiting, isCounted } = options;
  app.decorate('addsHeaders', corsOrigins.length > 0);
  if (corsOrigins.length > 0) {
    const { default: cors } = await import('@fastify/cors');
    await app.register(cors, {
      origin: corsOrigins.includes('*') ? '*' : [...corsOrigins],
      methods: ['GET', 'HEAD', 'POST', 'PUT', 'DELETE'],
      exposedHeaders: ['Varve-Position', 'X-Request-Id', 'Retry-After'],
      maxAge: 600,
    });
  }
  if (max > 0) {
    const { default: rateLimit } = await import('@fastify/rate-limit');
    await app.register(rateLimit, {
      max,
      timeWindow: '1 minute',
      ...defined({ store: sharedRateStore(options.count, 'requests') }),
      allowList: (request) => !isLimiting() || request.routeOptions.url === HEALTH_PATH || isCounted(request),
      // An answer past fastify's reply has no headers of its own; a refusal says everything with Retry-After.
      addHeadersOnExceeding: NO_HEADERS,
      addHeaders: { ...NO_HEADERS, 'retry-after': true },
      // IPv6 hands out whole networks: a caller is its /64.
      keyGenerator: ({ ip }) => (ip.includes(':') ? ip.split(':').slice(0, 4).join(':') : ip),
      errorResponseBuilder: () =>
        new RequestError('rate-limited', 'Too many requests, please try again later.'),
    });
  }
}
