import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { RequestError } from '../../shared/request-error.ts';
import type { AccessControl } from '../access/access-control.ts';
import { PAGE_HEADERS } from '../http/pages/page-headers.ts';
import { findConsoleFiles } from './console-files.ts';
import { consolePage, FILES_PATH } from './console-page.ts';

export type ConsoleOptions = { readonly access: AccessControl; readonly hasSearch: boolean };

/**
 * Registers the console at `/_varve/`, and in development mode also at `/`. Page and files are the same for every caller and have no data,
 * so they need no rights. `hasSearch`: in development mode there is a search page.
 */
export function registerConsole(app: FastifyInstance, { access, hasSearch }: ConsoleOptions): void {
  const files = findConsoleFiles();
  const isDevelopment = () => access.state().development;
  const sendPage = (reply: FastifyReply) =>
    reply
      .headers({ ...PAGE_HEADERS, vary: 'accept-encoding' })
      .type('text/html; charset=utf-8')
      .send(consolePage(files, hasSearch && isDevelopment()));
  app.get('/_varve/', (_request, reply) => sendPage(reply));
  app.get('/', (_request, reply) => {
    if (!isDevelopment()) throw new RequestError('not-found', 'Not Found');
    return sendPage(reply);
  });
  app.get(`${FILES_PATH}/:file`, async (request, reply) => {
    const found = files.read((request.params as { readonly file: string }).file);
    if (found === undefined) throw new RequestError('not-found', 'Not Found');
    const { type, etag, body, zipped } = await found;
    reply.headers({ ...PAGE_HEADERS, etag, vary: 'accept-encoding' });
    if (request.headers['if-none-match'] === etag) return reply.code(304).send();
    reply.type(`${type}; charset=utf-8`);
    return acceptsGzip(request) ? reply.header('content-encoding', 'gzip').send(zipped) : reply.send(body);
  });
}

function acceptsGzip({ headers }: FastifyRequest): boolean {
  return /\bgzip\b(?!\s*;\s*q=0(\.0*)?(?![.\d]))/.test(String(headers['accept-encoding'] ?? ''));
}
