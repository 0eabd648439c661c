import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { RequestError } from '../../shared/request-error.ts';
import type { SchemaRegistry } from '../../shared/schema/schema-registry.ts';
import type { OpenApiOptions } from '../openapi/openapi-document.ts';
import type { OpenApiDocument } from '../openapi/openapi-types.ts';
import { readSwaggerFile, SWAGGER_FILES } from './docs-page-files.ts';
import { DOCS_PAGE, DOCS_SCRIPT } from './docs-page-script.ts';
import { JSON_HEADERS, SECURITY_HEADERS } from './responses.ts';

export type DocsOptions = {
  /** The content types that the sender of a request may know of, and what it may do with them. */
  readonly visibleTo: (request: FastifyRequest) => {
    readonly registry: SchemaRegistry;
    readonly options: OpenApiOptions;
  };
};

/** Everything comes from this server, nothing is inline, and the page talks to nobody else. */
const PAGE_HEADERS = {
  ...SECURITY_HEADERS,
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-cache',
};

/**
 * `/openapi.json`, and at `/docs` a page that shows it and sends requests. What makes and shows the document is loaded with
 * the first request for it.
 */
export function registerDocs(app: FastifyInstance, { visibleTo }: DocsOptions): void {
  const whole = serializer((document) => document);
  app.get('/openapi.json', async (request, reply) => sendDocument(reply, whole(await describe(request))));
  app.get('/docs/openapi.json', async (request, reply) => {
    const { shallowDocument } = await import('../openapi/shallow-document.ts');
    shallow ??= serializer(shallowDocument);
    return sendDocument(reply, shallow(await describe(request)));
  });
  let shallow: ReturnType<typeof serializer> | undefined;
  const describe = async (request: FastifyRequest) => {
    const { openApiDocument } = await import('../openapi/openapi-document.ts');
    const { registry, options } = visibleTo(request);
    return openApiDocument(registry, options);
  };
  app.get('/docs', (_request, reply) => sendPage(reply, 'text/html', DOCS_PAGE));
  app.get('/docs/script.js', (_request, reply) => sendPage(reply, 'text/javascript', DOCS_SCRIPT));
  app.get('/docs/:file', async (request, reply) => {
    const type = SWAGGER_FILES.get((request.params as { readonly file: string }).file);
    if (type === undefined) throw new RequestError(404, 'NotFoundError', 'Not Found');
    return sendPage(reply, type.contentType, await readSwaggerFile(type));
  });
}

/** JSON of documents, each made once. */
function serializer(change: (document: OpenApiDocument) => OpenApiDocument) {
  const bodies = new WeakMap<OpenApiDocument, string>();
  return (document: OpenApiDocument): string => {
    const body = bodies.get(document) ?? JSON.stringify(change(document));
    bodies.set(document, body);
    return body;
  };
}

function sendDocument(reply: FastifyReply, body: string): FastifyReply {
  return reply.headers(JSON_HEADERS).header('cache-control', 'no-cache').send(body);
}

function sendPage(reply: FastifyReply, type: string, body: string | Buffer): FastifyReply {
  return reply.headers(PAGE_HEADERS).type(`${type}; charset=utf-8`).send(body);
}
