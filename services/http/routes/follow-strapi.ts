import { setTimeout as delay } from 'node:timers/promises';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { valueOfJson } from '../../../shared/json.ts';
import { RequestError } from '../../../shared/request-error.ts';
import { type FollowApi, REREAD_PATH, REREAD_PROOF } from '../../follow/follow-api.ts';
import type { ProxiedAnswer } from '../../follow/strapi-proxy.ts';
import { documentsOfWebhook, touchedDocuments } from '../../follow/touched-documents.ts';
import { METHOD_NOT_ALLOWED, SECURITY_HEADERS } from '../answers/responses.ts';
import { type Freshness, POSITION_HEADER } from '../requests/await-position.ts';

const WEBHOOK_PATH = '/_varve/strapi';

export type FollowRouteOptions = {
  readonly follow: FollowApi;
  readonly freshness: Pick<Freshness, 'shows'>;
  /** Maximum bytes of a body that is sent on. */
  readonly maxBytes: number;
};

/** Maximum bytes of a webhook. Its body is a whole entry, but only the entry's name is used. */
const WEBHOOK_BYTES = 16 * 1024 * 1024;
/** Maximum time for which the answer to a write in Strapi waits until reads show it here. */
const SHOWN_MS = 10_000;
const WRITING: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH', 'DELETE']);

/** Sends writes and logins on to the followed Strapi, even if Varve could carry them out itself. */
export function sendWritesToStrapi(app: FastifyInstance, options: FollowRouteOptions): void {
  const { follow } = options;
  app.addHook('onRequest', async (request, reply) => {
    const path = apiPath(request);
    if (path === undefined) return;
    const isLogin = /^\/auth(\/|$|\?)/i.test(path) || /^\/users\/me(\/|$|\?)/i.test(path);
    const isWrite = WRITING.has(request.method);
    if (!isLogin && !isWrite) return;
    if (follow.writes === 'refuse' && isWrite && !isLogin) {
      reply.code(405).headers(SECURITY_HEADERS).header('allow', 'GET, HEAD').type('text/plain');
      return reply.send(METHOD_NOT_ALLOWED);
    }
    const answer = await follow.proxy({
      method: request.method,
      path,
      headers: request.headers,
      clientAddress: request.ip,
      protocol: request.protocol,
      body: isWrite && hasBody(request) ? limited(request, options.maxBytes) : undefined,
    });
    return sendAnswer(reply, answer, await shownPosition(options, path, answer, isWrite));
  });
}

/** Registers the path of Strapi's webhooks, and the path at which other processes of the log ask for a document to be read again. */
export function registerWebhook(app: FastifyInstance, follow: FollowApi): void {
  app.post(
    WEBHOOK_PATH,
    {
      bodyLimit: WEBHOOK_BYTES,
      config: { members: 'all' },
      onRequest: async ({ headers }) => {
        if (!follow.isWebhook(headers.authorization))
          throw new RequestError(
            'unauthorized',
            'A webhook needs the header Authorization: Bearer and the secret of --follow-webhook-secret-file',
          );
      },
    },
    async (request, reply) => {
      follow.heard(documentsOfWebhook(follow.registry, request.body));
      return reply.code(204).headers(SECURITY_HEADERS).send();
    },
  );
  app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser(
      'text/plain',
      { parseAs: 'string' },
      async (_request: FastifyRequest, body: string | Buffer) => body,
    );
    scope.post(REREAD_PATH, { config: { members: 'all' } }, async ({ headers, body }) => {
      const proof = [headers[REREAD_PROOF]].flat()[0];
      return { position: String(await follow.rereadFor(proof, String(body))) };
    });
  });
}

/** Returns path and query below `/api`; undefined for any other request. */
function apiPath({ raw }: FastifyRequest): string | undefined {
  const url = raw.url ?? '';
  return /^\/api\//i.test(url) ? url.slice('/api'.length) : undefined;
}

function hasBody({ headers }: FastifyRequest): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

async function* limited({ raw }: FastifyRequest, maxBytes: number): AsyncGenerator<Uint8Array> {
  let size = 0;
  for await (const part of raw as AsyncIterable<Uint8Array>) {
    size += part.length;
    if (size > maxBytes)
      throw new RequestError('payload-too-large', `The body is longer than ${maxBytes} bytes`);
    yield part;
  }
}

/**
 * Returns the position at which reads show the write, or `pending` if they do not show it in time. Returns undefined if nothing was
 * written, or the request does not say which documents it changed.
 */
async function shownPosition(
  { follow, freshness }: FollowRouteOptions,
  path: string,
  { status, body, headers }: ProxiedAnswer,
  isWrite: boolean,
): Promise<bigint | 'pending' | undefined> {
  if (!isWrite || status >= 300) return undefined;
  const isJson = /json/.test(String(headers['content-type'] ?? '')) && body.length > 0;
  const answered = {
    path: path.split('?')[0] ?? path,
    body: isJson ? valueOfJson(body.toString()) : undefined,
  };
  const names = touchedDocuments(follow.registry, follow.documentOfId, answered);
  // An upload does not name the entry that it was linked with. A custom route of the project names no document.
  if (names === undefined || /^\/upload(\/|$)/.test(answered.path)) follow.look();
  if (names === undefined) return undefined;
  try {
    const late = delay(SHOWN_MS, undefined, { ref: false });
    const position = await Promise.race([follow.reread(names), late]);
    return position !== undefined && (await freshness.shows(position)) ? position : 'pending';
  } catch {
    return 'pending';
  }
}

function sendAnswer(
  reply: FastifyReply,
  { status, headers, body }: ProxiedAnswer,
  position: bigint | 'pending' | undefined,
): FastifyReply {
  if (typeof position === 'bigint') reply.header(POSITION_HEADER, String(position));
  const isLate = position === 'pending' && (status === 200 || status === 201);
  return reply
    .code(isLate ? 202 : status)
    .headers({ ...headers, ...SECURITY_HEADERS, 'cache-control': 'private, no-store' })
    .send(body.length === 0 ? undefined : body);
}
