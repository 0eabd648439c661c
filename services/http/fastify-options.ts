import { type FastifyBaseLogger, LogController } from 'fastify';
import { requestIdOf } from '../operating/request-id.ts';
import { NO_COMPILERS } from './no-compilers.ts';

/** Returns the options of every server of content: its own limits come on top. */
export function fastifyOptions(logger: FastifyBaseLogger) {
  return {
    loggerInstance: logger,
    // A child logger for every request would cost more than many queries do.
    childLoggerFactory: (parent: FastifyBaseLogger) => parent,
    logController: new LogController({ disableRequestLogging: true }),
    // `requestIdOf` reads the header, because not every text in it is an id.
    requestIdHeader: false as const,
    genReqId: requestIdOf,
    schemaController: { compilersFactory: NO_COMPILERS },
    routerOptions: {
      caseSensitive: false,
      ignoreTrailingSlash: true,
      // Node limits the request line. fastify's limit of 100 characters would refuse the names of files that Strapi made.
      maxParamLength: Number.MAX_SAFE_INTEGER,
      // The planner reads the raw text, so nothing uses fastify's result.
      querystringParser: () => NO_QUERY,
    },
  };
}

const NO_QUERY: Record<string, string> = Object.freeze(Object.create(null));
