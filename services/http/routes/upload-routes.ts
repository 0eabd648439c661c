import multipart from '@fastify/multipart';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { acceptedBody } from '../answers/accepted-body.ts';
import { JSON_HEADERS } from '../answers/responses.ts';
import { answerRead } from '../api/cacheable.ts';
import type { UploadAnswer, UploadApi, UploadBody } from '../api/upload-api.ts';
import { POSITION_HEADER } from '../requests/await-position.ts';
import { CONTENT_PATH, idOf, queryOf, type RouteContext, register } from './entry-routes.ts';
import { uploadParts } from './upload-parts.ts';

/** Registers `/api/upload`, the only route that accepts forms. Their files are streamed into the asset store. */
export function registerUploads(
  app: FastifyInstance,
  apiOf: (request: FastifyRequest) => UploadApi,
  deliveryOf: RouteContext['deliveryOf'],
): void {
  app.register(async (scope) => {
    await scope.register(multipart);
    register(scope, '/api/upload/files', {
      config: CONTENT_PATH,
      GET: (request, reply) =>
        answerRead(deliveryOf(request), request, reply, () => apiOf(request).list(queryOf(request))),
    });
    register(scope, '/api/upload/files/:id', {
      config: CONTENT_PATH,
      GET: (request, reply) =>
        answerRead(deliveryOf(request), request, reply, () =>
          apiOf(request).one(idOf(request), queryOf(request)),
        ),
      DELETE: async (request, reply) =>
        sendFiles(reply, 200, await apiOf(request).remove(idOf(request), request.command)),
    });
    register(scope, '/api/upload', {
      POST: async (request, reply) => {
        const { created, ...answer } = await apiOf(request).write(
          queryOf(request),
          uploadBody(request),
          request.command,
        );
        sendFiles(reply, created ? 201 : 200, answer);
      },
    });
  });
}

function uploadBody(request: FastifyRequest): UploadBody {
  return request.isMultipart()
    ? { kind: 'form', parts: uploadParts(request) }
    : { kind: 'json', value: request.body };
}

function sendFiles(reply: FastifyReply, status: number, answer: UploadAnswer): void {
  const { documentIds, position, body, unshown } = answer;
  reply.headers(JSON_HEADERS).header(POSITION_HEADER, String(position));
  if (body !== null) reply.code(status).send(body);
  else {
    const data = documentIds.map((documentId) => ({ documentId }));
    reply.code(202).send(acceptedBody(data, position, unshown));
  }
}
