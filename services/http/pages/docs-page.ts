import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { may, mayReadDrafts, mayReadHistory, type Rights } from '../../../shared/access/rights.ts';
import { remembered } from '../../../shared/remembered.ts';
import { RequestError } from '../../../shared/request-error.ts';
import type { OpenApiOptions } from '../../openapi/openapi-document.ts';
import type { OpenApiDocument } from '../../openapi/openapi-types.ts';
import { shallowDocument } from '../../openapi/shallow-document.ts';
import { JSON_HEADERS } from '../answers/responses.ts';
import type { CallerApi } from '../api/caller-apis.ts';
import { readSwaggerFile, SWAGGER_FILES } from './docs-page-files.ts';
import { DOCS_PAGE, DOCS_SCRIPT } from './docs-page-script.ts';
import { PAGE_HEADERS } from './page-headers.ts';

export type DocsOptions = {
  /** Version of the server. */
  readonly version: string;
  readonly usersEnvelope: boolean;
  readonly apiFor: (rights: Rights) => CallerApi;
  readonly login: OpenApiOptions['login'];
  readonly operations?: OpenApiOptions['operations'];
};

/**
 * Serves `/openapi.json`, and the form of it that the page at `/docs` reads. Both have the paths that the caller may use. The first request
 * loads the code that makes the document.
 */
export function registerOpenApi(app: FastifyInstance, docs: DocsOptions): void {
  const optionsOf = describeCallers(docs);
  const describe = async ({ rights }: FastifyRequest) => {
    const { openApiDocument } = await import('../../openapi/openapi-document.ts');
    const api = docs.apiFor(rights);
    return openApiDocument(api.registry, optionsOf(api));
  };
  app.get('/openapi.json', async (request, reply) => sendDocument(reply, whole(await describe(request))));
  app.get('/docs/openapi.json', async (request, reply) =>
    sendDocument(reply, shallow(await describe(request))),
  );
}

const whole = remembered((document: OpenApiDocument) => JSON.stringify(document));

const shallow = remembered((document: OpenApiDocument) => JSON.stringify(shallowDocument(document)));

/**
 * Returns the options of a caller's document. They are the same object each time, because a document is made once for each options object.
 */
function describeCallers({ operations, ...docs }: DocsOptions): (api: CallerApi) => OpenApiOptions {
  const { version, usersEnvelope, login } = docs;
  return remembered(
    ({ rights, delivery }: CallerApi): OpenApiOptions => ({
      version,
      usersEnvelope,
      login,
      operations: rights.kind === 'full-access' ? operations : undefined,
      uploads: true,
      drafts: mayReadDrafts(rights),
      history: mayReadHistory(rights),
      live: delivery.known !== undefined,
      may: (type, action) => may(rights, type.uid, action),
    }),
  );
}

/** Registers `/docs`: a page that shows the document and sends requests. */
export function registerDocsPage(app: FastifyInstance): void {
  app.get('/docs', (_request, reply) => sendPage(reply, 'text/html', DOCS_PAGE));
  app.get('/docs/script.js', (_request, reply) => sendPage(reply, 'text/javascript', DOCS_SCRIPT));
  app.get('/docs/:file', async (request, reply) => {
    const type = SWAGGER_FILES.get((request.params as { readonly file: string }).file);
    if (type === undefined) throw new RequestError('not-found', 'Not Found');
    return sendPage(reply, type.contentType, await readSwaggerFile(type));
  });
}

function sendDocument(reply: FastifyReply, body: string): FastifyReply {
  // The document has only what the caller may use.
  const vary = [reply.getHeader('vary') ?? [], 'Authorization'].flat().join(', ');
  return reply.headers({ ...JSON_HEADERS, 'cache-control': 'private, no-cache', vary }).send(body);
}

function sendPage(reply: FastifyReply, type: string, body: string | Buffer): FastifyReply {
  return reply.headers(PAGE_HEADERS).type(`${type}; charset=utf-8`).send(body);
}
