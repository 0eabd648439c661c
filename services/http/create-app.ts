import fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from 'fastify';
import { RequestError } from '../../shared/request-error.ts';
import type { SchemaRegistry } from '../../shared/schema/schema-registry.ts';
import type { ContentApi } from './content-api.ts';
import { type DocsOptions, registerDocs } from './docs-page.ts';
import { type ErrorEnvelope, presentError } from './error-envelope.ts';
import { parseJsonBody } from './json-body.ts';
import { JSON_HEADERS, METHOD_NOT_ALLOWED, SECURITY_HEADERS } from './responses.ts';
import { registerCollectionType, registerSingleType, registerUsers } from './routes.ts';
import { type AssetRoutesOptions, registerAssets } from './serve-assets.ts';
import type { UploadApi } from './upload-api.ts';
import { registerUploads } from './upload-routes.ts';

export type AppOptions = {
  readonly registry: SchemaRegistry;
  readonly api: ContentApi;
  readonly uploads: UploadApi;
  readonly assets: AssetRoutesOptions;
  readonly logger: FastifyBaseLogger;
  /** Bytes of a request body; more is a 413. */
  readonly bodyLimit: number;
  readonly docs: DocsOptions;
};

/** The HTTP API over `api`: routes of every content type, users and `/_health`. Not listening: give `routing` its requests. */
export async function createApp(options: AppOptions): Promise<FastifyInstance> {
  const app = fastify({
    loggerInstance: options.logger,
    // A child logger for every request costs more than many a query.
    childLoggerFactory: (logger) => logger,
    logController: new LogController({ disableRequestLogging: true }),
    requestIdHeader: 'x-request-id',
    bodyLimit: options.bodyLimit,
    // What never reaches a route: a path that is no text.
    frameworkErrors: (error, _request, reply) => sendError(reply, presentError(error)),
    routerOptions: {
      caseSensitive: false,
      ignoreTrailingSlash: true,
      // The planner reads the raw text: what fastify would parse here is thrown away.
      querystringParser: () => NO_QUERY,
    },
  }) as unknown as FastifyInstance;
  acceptBodies(app);
  refuse(app);
  app.get('/_health', (_request, reply) => reply.code(204).send());
  const context = { app, api: options.api, registry: options.registry };
  for (const type of options.registry.contentTypes.values()) {
    if (type.builtIn) continue;
    if (type.kind === 'singleType') registerSingleType(context, type);
    else registerCollectionType(context, type);
  }
  registerUsers(context);
  registerUploads(app, options.uploads);
  registerAssets(app, options.assets);
  registerDocs(app, options.docs);
  await app.ready();
  return app;
}

const NO_QUERY: Record<string, string> = Object.freeze(Object.create(null));

/**
 * JSON is parsed. Text and forms are taken and ignored, so that the handler says what is missing, as Strapi does (case
 * `write.body-016`); every other type is a 415.
 */
function acceptBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    /^application\/(.+\+)?json(;|$)/i,
    { parseAs: 'string' },
    async (_request: FastifyRequest, body: string | Buffer) => parseJsonBody(body as string),
  );
  app.addContentTypeParser(
    ['text/plain', 'application/x-www-form-urlencoded'],
    { parseAs: 'buffer' },
    async () => undefined,
  );
}

function refuse(app: FastifyInstance): void {
  app.setErrorHandler((error, request, reply) => {
    const body = presentError(error);
    if (body.error.status >= 500) {
      request.log.error({ err: error, method: request.method, url: request.url, requestId: request.id });
    }
    sendError(reply.header('x-request-id', request.id), body);
  });
  app.setNotFoundHandler((request, reply) => {
    // Strapi has a catch-all route for GET, so an unknown path refuses every other method (case http-017).
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      reply
        .code(405)
        .headers(SECURITY_HEADERS)
        .header('allow', 'GET, HEAD')
        .type('text/plain')
        .send(METHOD_NOT_ALLOWED);
      return;
    }
    throw new RequestError(404, 'NotFoundError', 'Not Found');
  });
}

function sendError(reply: FastifyReply, body: ErrorEnvelope): void {
  reply.code(body.error.status).headers(JSON_HEADERS).send(JSON.stringify(body));
}
