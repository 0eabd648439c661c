import type { FastifyInstance, FastifyRequest } from 'fastify';
import { limitRequests, networkOf } from './limit-requests.ts';
import type { CountRequest } from './shared-rate-store.ts';

export type ProtectionOptions = {
  /** Origins of pages that may send requests from a browser. `*` means every origin. Empty: none. */
  readonly corsOrigins: readonly string[];
  /** Requests a minute from one address; 0: any number. */
  readonly rateLimit: number;
  /** Returns false while a start checks the server and writes the examples. */
  readonly isLimiting: () => boolean;
  /** Returns whether a request comes from another process of the log, which has counted it. */
  readonly isCounted: (request: FastifyRequest) => boolean;
  /** Counts for all processes of the server. Absent: this process counts its own. */
  readonly count?: CountRequest | undefined;
};

declare module 'fastify' {
  interface FastifyInstance {
    /** True if answers have headers that depend on the request. Reads then send these headers too. */
    addsHeaders: boolean;
  }
}

/** Path of health checks. They are never limited, because an orchestrator restarts a process that does not answer. */
export const HEALTH_PATH = '/_health';

/** Registers the first checks of a request. Without these settings there are none, so they cost nothing. */
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
  await limitRequests(app, {
    max,
    name: 'requests',
    count: options.count,
    allowList: (request) => !isLimiting() || request.routeOptions.url === HEALTH_PATH || isCounted(request),
    keyGenerator: ({ ip }) => networkOf(ip),
  });
}
