import { Agent, type IncomingHttpHeaders, type IncomingMessage, request as send } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { mayAdminister, mayReadHistory } from '../../../shared/access/rights.ts';
import { RequestError } from '../../../shared/request-error.ts';
import { type AskedPast, askedPast } from '../../past/as-of.ts';
import type { LogMoment } from '../../past/moments.ts';
import type { UsedPast } from '../../past/past-worlds.ts';
import { invalidKey, refuseIfAny } from '../../query/problems.ts';
import { AS_OF, LIST_PARAMETERS } from '../../query/root-parameters.ts';
import { endToEndHeaders } from '../answers/connection-headers.ts';
import { POSITION_HEADER } from '../requests/await-position.ts';
import { wantsStream } from '../requests/wants-stream.ts';
import { PAST_HEADER, writeRights } from './rights-header.ts';

/** The pasts of a server. */
export type Past = {
  /** Finds what `asOf` names. Rejects with RequestError (400) if the log has no such moment. */
  find(given: readonly string[]): Promise<LogMoment>;
  /** Rejects with RequestError (503) if it takes long to open the past. */
  use(position: bigint): Promise<UsedPast>;
  /** Secret of requests to its processes. */
  readonly secret: string;
};

/**
 * Answers reads with `asOf` from a process that serves that past. A caller without the right gets the answer to an unknown parameter, and
 * no process is started for it. Other requests cost one look at the address. Register this after the hooks that set the rights. `past`:
 * absent in a process without pasts.
 */
export function answerPasts(scope: FastifyInstance, past: Past | undefined): void {
  const agent = new Agent({ keepAlive: true });
  scope.addHook('onRequest', (request, reply, done) => {
    const asked = askedPast(request.raw.url ?? '');
    if (asked === undefined || isLeftToPlanner(request)) done();
    // Never rejects: an error goes to the handler of errors.
    else void answerPast({ past, agent, asked }, request, reply).catch(done);
  });
}

/** Returns whether the planner answers, which refuses `asOf` like any unknown name. */
function isLeftToPlanner({ method, rights, routeOptions: { config } }: FastifyRequest): boolean {
  const isPlanned = config.past === 'content' || config.past === 'users';
  return !mayReadHistory(rights) && isPlanned && isRead(method);
}

function isRead(method: string): boolean {
  return method === 'GET' || method === 'HEAD';
}

type Asking = { readonly past: Past | undefined; readonly agent: Agent; readonly asked: AskedPast };

async function answerPast(
  { past, agent, asked }: Asking,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  if (!mayReadHistory(request.rights)) refuseIfAny([invalidKey(AS_OF, null, AS_OF, LIST_PARAMETERS)]);
  if (past === undefined || !hasPast(request)) throw notSupported(asked, past !== undefined);
  const moment = await past.find(asked.given);
  const world = await past.use(moment.position);
  try {
    const headers = { ...sentHeaders(request), [PAST_HEADER]: writeRights(past.secret, request.rights) };
    const answer = await ask(agent, { address: world.address, url: asked.url, headers, request, reply });
    answer.once('close', world.done);
    reply.code(answer.statusCode ?? 502).headers(answerHeaders(request, answer, moment));
    reply.send(answer);
  } catch (error) {
    world.done();
    throw error;
  }
}

function hasPast(request: FastifyRequest): boolean {
  const { past } = request.routeOptions.config;
  const isKnown = past !== undefined && (past !== 'users' || mayAdminister(request.rights));
  return isKnown && isRead(request.method) && !wantsStream(request.raw);
}

function notSupported({ given }: AskedPast, isServed: boolean): RequestError {
  const accepted = isServed
    ? 'a GET of entries, files or locales that is not a stream; of users only with full access'
    : 'nothing: this process has no past. Ask varve serve, or set --past-worlds';
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

type Sent = {
  readonly address: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
};

/** Maximum time without a byte of the answer. */
const ANSWER_MS = 60_000;

/** Resolves with the answer of the past. Rejects with RequestError (503) if its process has ended. */
function ask(agent: Agent, { address, url, headers, request, reply }: Sent): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const { method } = request;
  const sent = send(address, { agent, method, path: url, headers, timeout: ANSWER_MS }, resolve);
  sent.once('timeout', () => sent.destroy(new Error('there is no answer')));
  sent.once('error', (cause) => {
    const message = 'The process with the content of that position has ended: try again';
    reject(new RequestError('past-opening', message, { source: 'query', param: AS_OF }, { cause }));
  });
  // The client has left.
  reply.raw.once('close', () => sent.destroy());
  sent.end();
  return promise;
}

/** Returns the headers of an answer: those of the present, with the moment that it shows (RFC 7089). */
function answerHeaders(
  request: FastifyRequest,
  { headers, statusCode = 502 }: IncomingMessage,
  { position, at }: LogMoment,
): IncomingHttpHeaders {
  const shown = {
    [POSITION_HEADER]: String(position),
    link: `<${originalOf(request)}>; rel="original"`,
    ...(at !== undefined && { 'memento-datetime': at.toUTCString() }),
    ...(statusCode < 400 && { 'cache-control': 'private, no-cache' }),
  };
  return { ...endToEndHeaders(headers, ['date', 'x-request-id']), ...shown };
}

/** Returns the address of the present. */
function originalOf({ originalUrl }: FastifyRequest): string {
  return (askedPast(originalUrl)?.url ?? originalUrl).replaceAll('>', '%3E');
}
