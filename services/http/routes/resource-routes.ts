import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { defined } from '../../../shared/defined.ts';
import type { Resource, ResourceResult } from '../../../shared/resource.ts';
import { NotLeading } from '../../command/not-leading.ts';
import { SECURITY_HEADERS } from '../answers/responses.ts';
import { POSITION_HEADER } from '../requests/await-position.ts';
import { wantsStream } from '../requests/wants-stream.ts';
import { type Handler, partOfPath, queryOf, register } from './entry-routes.ts';
import type { StreamContext } from './open-stream.ts';
import { WITH_DATA } from './refuse-unknown-names.ts';
import { sendData } from './send-data.ts';
import { streamLines } from './stream-lines.ts';

/** Registers the routes of resources, which `parts` carry out. `streaming`: for those that can be followed; undefined: none can. */
export function registerResources<Parts>(
  scope: FastifyInstance,
  resources: readonly Resource<Parts>[],
  parts: Parts,
  streaming: StreamContext | undefined,
): void {
  for (const [path, found] of Map.groupBy(resources, (each) => each.path)) {
    const handlers = found.map((each) => [each.method, handlerOf(each, parts, streaming)] as const);
    const query = found.find((each) => each.query !== undefined)?.query;
    const config = {
      ...(found.some(({ body }) => body !== undefined) ? WITH_DATA : {}),
      ...defined({ parameters: query && Object.keys(query.shape) }),
      ...defined({ isOfLeader: found.find(({ ofLeader }) => ofLeader)?.ofLeader }),
    };
    register(scope, path, { config, ...Object.fromEntries(handlers) });
  }
}

function handlerOf<Parts>(
  resource: Resource<Parts>,
  parts: Parts,
  streaming: StreamContext | undefined,
): Handler {
  return async (request, reply) => {
    if (resource.ofLeader && request.isElsewhere) throw new NotLeading();
    const asked = {
      parameter: (name: string) => partOfPath(request, name),
      query: new URLSearchParams(queryOf(request)),
      data: dataOf(request),
      hasBody: request.body !== undefined,
    };
    if (resource.subscribe !== undefined && streaming !== undefined && wantsStream(request)) {
      const gone = new AbortController();
      reply.raw.once('close', () => gone.abort());
      const lines = resource.subscribe.bind(resource, parts, asked, gone.signal);
      return streamLines({ streaming, lines, failureOf: (error) => error as Error }, request, reply);
    }
    send(reply, resource, await resource.run(parts, asked));
  };
}

function send(
  reply: FastifyReply,
  { status = 200 }: Pick<Resource<never>, 'status'>,
  { data, meta = {}, position }: ResourceResult,
): void {
  if (status !== 204) sendData(reply, data, { status, meta, position });
  else reply.header(POSITION_HEADER, String(position)).code(204).headers(SECURITY_HEADERS).send();
}

/** Returns the member `data` of a body, which may have any type. */
export function dataOf({ body }: Pick<FastifyRequest, 'body'>): unknown {
  return (body as { readonly data?: unknown } | undefined)?.data;
}
