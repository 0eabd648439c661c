import type { RequestListener } from 'node:http';
import fastify, { type FastifyBaseLogger, type FastifyInstance, type FastifyRequest } from 'fastify';
import type { SchemaRegistry } from '../../shared/schema/schema-registry.ts';
import { reportError } from './answers/report-error.ts';
import { JSON_HEADERS } from './answers/responses.ts';
import { forbidden } from './api/guard-content-api.ts';
import { fastifyOptions } from './fastify-options.ts';
import { PAST_HEADER, readRights } from './past/rights-header.ts';
import {
  type LiveLists,
  registerCollectionType,
  registerLocales,
  registerSingleType,
  registerUsers,
} from './routes/entry-routes.ts';
import { registerUploads } from './routes/upload-routes.ts';
import type { ServedApi } from './served-api.ts';

export type PastAppOptions = Pick<ServedApi, 'apiFor'> & {
  readonly logger: FastifyBaseLogger;
  readonly registry: SchemaRegistry;
  /** Secret of requests. The process that serves the present has checked who calls, and sends the caller's rights. */
  readonly secret: string;
};

/** Creates the HTTP API of a past: the reads of content. It does not listen: pass it the requests. */
export async function createPastApp(options: PastAppOptions): Promise<RequestListener> {
  const { apiFor, registry, secret } = options;
  const app = createPrivateFastify(options.logger);
  app.decorateRequest('rights');
  app.decorateRequest('signedIn');
  app.decorateRequest('command');
  app.addHook('onRequest', (request, _reply, done) => {
    const rights = readRights(secret, request.headers[PAST_HEADER] as string | undefined);
    if (rights !== undefined) request.rights = rights;
    done(rights === undefined ? forbidden() : undefined);
  });
  const apiOf = (request: FastifyRequest) => apiFor(request.rights);
  const context = {
    app,
    registry,
    live: NO_LIVE_LISTS,
    apiOf: (request: FastifyRequest) => apiOf(request).content,
    deliveryOf: (request: FastifyRequest) => apiOf(request).delivery,
  };
  for (const type of registry.contentTypes.values())
    if (!type.builtIn)
      (type.kind === 'singleType' ? registerSingleType : registerCollectionType)(context, type);
  registerUsers({ ...context, login: undefined });
  registerLocales(context);
  registerUploads(app, (request) => apiOf(request).uploads, context.deliveryOf);
  await app.ready();
  return (request, response) => app.routing(request, response);
}

/** A past does not change. */
const NO_LIVE_LISTS: LiveLists = {
  wants: () => false,
  answer: async () => {
    throw forbidden();
  },
};

/** Creates a server for requests that another process of this program has checked. */
function createPrivateFastify(logger: FastifyBaseLogger): FastifyInstance {
  const app = fastify(fastifyOptions(logger)) as unknown as FastifyInstance;
  return app.setErrorHandler((error, request, reply) => {
    const body = reportError(error, request);
    reply.code(body.error.status).headers(JSON_HEADERS).header('cache-control', 'no-store');
    reply.send(JSON.stringify(body));
  });
}
