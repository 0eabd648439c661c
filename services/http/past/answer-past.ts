import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { mayAdminister, mayReadDrafts, mayReadHistory } from '../../../shared/access/rights.ts';
import { RequestError } from '../../../shared/request-error.ts';
import { type AskedPast, askedPast } from '../../past/as-of.ts';
import type { LogMoment } from '../../past/moments.ts';
import { invalidKey, refuseIfAny } from '../../query/problems.ts';
import { AS_OF, LIST_PARAMETERS } from '../../query/root-parameters.ts';
import { endToEndHeaders } from '../answers/connection-headers.ts';
import { POSITION_HEADER } from '../requests/await-position.ts';
import { wantsStream } from '../requests/wants-stream.ts';
import type { Past, PastAnswer } from './past.ts';
import { PAST_HEADER } from './rights-header.ts';
import { linksOfPast } from './time-gate.ts';

/**
 * Answers reads with `asOf` from a process that serves that past. A caller without the right gets the answer to an unknown parameter, and
 * no process is started for it. Other requests cost one look at the address. Register this after the hooks that set the rights. `past`:
 * absent in a process without pasts.
 */
export function answerPasts(scope: FastifyInstance, past: Past | undefined): void {
  scope.addHook('onRequest', (request, reply, done) => {
    const asked = askedPast(request.raw.url ?? '');
    if (asked === undefined || isLeftToOthers(request)) done();
    // Never rejects: an error goes to the handler of errors.
    else void answerPast(past, asked, request, reply).catch(done);
  });
}

/** Returns whether the TimeGate answers, or the planner, which refuses `asOf` like any unknown name. */
function isLeftToOthers({ method, rights, routeOptions: { config } }: FastifyRequest): boolean {
  const isPlanned = config.past === 'content' || config.past === 'users';
  return config.past === 'gate' || (!mayReadHistory(rights) && isPlanned && isRead(method));
}

function isRead(method: string): boolean {
  return method === 'GET' || method === 'HEAD';
}

async function answerPast(
  past: Past | undefined,
  asked: AskedPast,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  if (!mayReadHistory(request.rights)) refuseIfAny([invalidKey(AS_OF, null, AS_OF, LIST_PARAMETERS)]);
  if (past === undefined || !hasPast(request)) throw notSupported(asked, past !== undefined);
  const moment = await past.find(asked.given, mayReadDrafts(request.rights));
  const answer = await past.answer({
    moment,
    method: request.method,
    url: asked.url,
    headers: sentHeaders(request),
    rights: request.rights,
    authorization: request.headers.authorization,
    signal: untilLeft(reply),
  });
  reply.code(answer.statusCode).headers(answerHeaders(request, answer, moment));
  reply.send(answer.body);
}

/** Returns a signal that is aborted when the client leaves. */
function untilLeft({ raw }: FastifyReply): AbortSignal {
  const left = new AbortController();
  raw.once('close', () => left.abort());
  return left.signal;
}

function hasPast(request: FastifyRequest): boolean {
  const { past } = request.routeOptions.config;
  const isKnown = past !== undefined && (past !== 'users' || mayAdminister(request.rights));
  return isKnown && isRead(request.method) && !wantsStream(request.raw);
}

function notSupported({ given }: AskedPast, isServed: boolean): RequestError {
  const accepted = isServed
    ? 'a GET of entries, files or locales that is not a stream; of users only with full access'
    : 'nothing: this process has no past. Set --past-worlds';
  return new RequestError('not-supported', `'${AS_OF}' is not supported here`, {
    source: 'query',
    param: AS_OF,
    found: given.join('&').slice(AS_OF.length + 1),
    accepted,
  });
}

/** Headers for this process: who calls, and what it has to wait for. */
const OF_THIS_PROCESS = [
  'host',
  'authorization',
  'cookie',
  'varve-min-position',
  'content-length',
  PAST_HEADER,
];

function sentHeaders(request: FastifyRequest): IncomingHttpHeaders {
  return { ...endToEndHeaders(request.headers, OF_THIS_PROCESS), 'x-request-id': request.id };
}

/** Returns the headers of an answer: those of the present, with the moment that it shows (RFC 7089). */
function answerHeaders(
  { originalUrl }: FastifyRequest,
  { headers, statusCode }: PastAnswer,
  { position, at }: LogMoment,
): IncomingHttpHeaders {
  const present = askedPast(originalUrl)?.url ?? originalUrl;
  const shown = {
    [POSITION_HEADER]: String(position),
    ...linksOfPast(present),
    ...(at !== undefined && { 'memento-datetime': at.toUTCString() }),
    ...(statusCode < 400 && { 'cache-control': 'private, no-cache' }),
  };
  return { ...endToEndHeaders(headers, ['date', 'x-request-id']), ...shown };
}
