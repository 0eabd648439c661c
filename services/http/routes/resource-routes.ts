import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Resource, ResourceAnswer } from '../../operator/resource.ts';
import { SECURITY_HEADERS } from '../answers/responses.ts';
import { POSITION_HEADER } from '../requests/await-position.ts';
import { type Handler, partOfPath, register } from './entry-routes.ts';
import { WITH_DATA } from './refuse-unknown-names.ts';
import { sendData } from './send-data.ts';

/** Registers the routes of resources, which `parts` carry out. */
export function registerResources<Parts>(
  scope: FastifyInstance,
  resources: readonly Resource<Parts>[],
  parts: Parts,
): void {
  for (const [path, found] of Map.groupBy(resources, (each) => each.path)) {
    const handlers = found.map((each) => [each.method, handlerOf(each, parts)] as const);
    const config = found.some(({ body }) => body !== undefined) ? WITH_DATA : {};
    register(scope, path, { config, ...Object.fromEntries(handlers) });
  }
}

function handlerOf<Parts>(resource: Resource<Parts>, parts: Parts): Handler {
  return async (request, reply) => {
    const parameter = (name: string) => partOfPath(request, name);
    send(reply, resource, await resource.run(parts, { parameter, data: dataOf(request) }));
  };
}

function send(
  reply: FastifyReply,
  { status = 200 }: Pick<Resource<never>, 'status'>,
  { data, meta = {}, position }: ResourceAnswer,
): void {
  if (status !== 204) sendData(reply, data, { status, meta, position });
  else reply.header(POSITION_HEADER, String(position)).code(204).headers(SECURITY_HEADERS).send();
}

/** Returns the member `data` of a body, which may have any type. */
export function dataOf({ body }: Pick<FastifyRequest, 'body'>): unknown {
  return (body as { readonly data?: unknown } | undefined)?.data;
}
