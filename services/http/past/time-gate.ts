import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { mayReadHistory } from '../../../shared/access/rights.ts';
import { RequestError } from '../../../shared/request-error.ts';
import { askedPast } from '../../past/as-of.ts';
import { AS_OF } from '../../query/root-parameters.ts';
import { SECURITY_HEADERS } from '../answers/responses.ts';
import type { Past } from './past.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Content whose past a GET of this path also answers (`asOf`), or the TimeGate. Absent: there is none. */
    readonly past?: 'content' | 'users' | 'locales' | 'gate';
  }
}

const GATE_PATH = '/_varve/timegate';
const ACCEPT_HEADER = 'accept-datetime';

/**
 * Registers the TimeGate of RFC 7089, pattern 2.1: a GET of `/_varve/timegate/api/…` with `Accept-Datetime` redirects to the same address with
 * `asOf`. The content API itself negotiates nothing, because caches would have to keep each answer by one more header. Callers without the right
 * get the answer to an unknown path. `prefix`: additional path of the content API.
 */
export function registerTimeGate(scope: FastifyInstance, past: Past | undefined, prefix: string): void {
  scope.get(`${GATE_PATH}/*`, { config: { past: 'gate', parameters: 'all' } }, async (request, reply) => {
    const original = originalOf(request);
    const isContent = ['/api', prefix].some((each) => original.startsWith(`${each}/`));
    if (!mayReadHistory(request.rights) || !isContent) return reply.callNotFound();
    if (past === undefined) throw notSupported();
    const asked = request.headers[ACCEPT_HEADER];
    const { position } = await past.nearest(asked === undefined ? undefined : instantOf(String(asked)));
    return redirect(reply, original, position);
  });
}

/** Returns the address of the present. */
function originalOf({ originalUrl }: FastifyRequest): string {
  const url = originalUrl.slice(GATE_PATH.length);
  return askedPast(url)?.url ?? url;
}

function redirect(reply: FastifyReply, original: string, position: bigint): FastifyReply {
  const memento = `${original}${original.includes('?') ? '&' : '?'}${AS_OF}=${position}`;
  return reply
    .code(302)
    .headers({ ...SECURITY_HEADERS, 'cache-control': 'private, no-cache' })
    .header('vary', ACCEPT_HEADER)
    .header('location', memento)
    .headers(linked(original, linkTo(original, 'original')))
    .send();
}

/** A time of HTTP has whole seconds. Returns the end of that second, so that the time of an answer leads to that answer. */
function instantOf(text: string): number {
  const at = Date.parse(text);
  if (Number.isNaN(at) || new Date(at).toUTCString() !== text)
    throw new RequestError('invalid-header', `Invalid header ${ACCEPT_HEADER}`, {
      header: ACCEPT_HEADER,
      found: text,
      accepted: 'a time of HTTP, such as Sun, 01 Mar 2026 12:00:00 GMT',
    });
  return at + 999;
}

function notSupported(): RequestError {
  return new RequestError('not-supported', 'This process has no past', {
    accepted: 'nothing: set --past-worlds',
  });
}

/** Maximum characters of an address that `Link` repeats. Clients and proxies refuse answers with headers of some KiB. */
const LONGEST_LINKED = 1_000;

/** Returns the `Link` of a past: to the present, and to the TimeGate. Without it if the address is long. */
export function linksOfPast(present: string): { readonly link?: string } {
  return linked(present, `${linkTo(present, 'original')}, ${linkTo(GATE_PATH + present, 'timegate')}`);
}

function linked(present: string, link: string): { readonly link?: string } {
  return present.length > LONGEST_LINKED ? {} : { link };
}

function linkTo(target: string, relation: 'original' | 'timegate'): string {
  return `<${target.replaceAll('>', '%3E')}>; rel="${relation}"`;
}
