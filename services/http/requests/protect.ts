import type { FastifyInstance, FastifyRequest } from 'fastify';
import { limitRequests, networkOf } from './limit-requests.ts';
import type { CountRequest } from './shared-rate-store.ts';

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
  await limitRequests(app, {
    max,
    name: 'requests',
    count: options.count,
    allowList: (request) => !isLimiting() || request.routeOptions.url === HEALTH_PATH || isCounted(request),
    keyGenerator: ({ ip }) => networkOf(ip),
  });
}
