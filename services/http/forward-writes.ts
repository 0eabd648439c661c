import { setMaxListeners } from 'node:events';
import type {
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  RouteHandlerMethod,
  RouteOptions,
} from 'fastify';
import { assertNever } from '../../shared/assert-never.ts';
import type { Leader } from '../../shared/fleet/lease.ts';
import { RequestError } from '../../shared/request-error.ts';
import { NotLeading } from '../command/not-leading.ts';
import type { Fleet, WhereLed } from '../fleet/fleet.ts';
import type { Membership } from '../fleet/membership.ts';
import { commandIdentity } from './command-identity.ts';
import { type ForwardedCommands, signAnswers } from './forwarded-commands.ts';
import { NOT_LEADING_HEADER } from './responses.ts';
import { answerHeaders, createSender, type Sender, type SentAnswer, type SentWrite } from './send-on.ts';

export type ForwardingOptions = {
  readonly fleet: Pick<Fleet, 'leader' | 'changed'>;
  readonly membership: Membership;
  /** What other processes send here. */
  readonly commands: ForwardedCommands;
  readonly newCommandId: () => string;
  /** Told of every write that another process has answered. */
  readonly forwarded: () => void;
  /** Told of every write that is carried out here: its end is `leave`. */
  readonly underWay: UnderWay;
  /** Throws RequestError while this process takes no writes, whoever leads. */
  readonly refuseWrites?: () => void;
};

/** Counts what begins and ends. */
export type UnderWay = { enter(): void; leave(): void };

/** How long a write waits for a leader; longer than a takeover takes. */
const WAIT_MS = 10_000;
/** How soon a leader that did not answer is asked again. */
const AGAIN_MS = 100;

const WRITING = ['POST', 'PUT', 'DELETE'];

/**
 * Writes of this scope are carried out by the leader, wherever that is: one that comes to another process is sent on, its body
 * with it, and answered with the leader's answer. While there is no leader it waits. A JSON write is sent again when its
 * leader is lost, as the same command, so that it counts once; an upload is a stream that passes only once, and is answered
 * 503 when its leader is lost on the way.
 */
export function forwardWrites(scope: FastifyInstance, options: ForwardingOptions): void {
  const { commands, membership } = options;
  const sender = createSender(membership);
  scope.addHook('onClose', async () => sender.close());
  signAnswers(scope, commands);
  scope.addHook('onRoute', (route) => {
    if (isWrite(route)) route.handler = whereItLeads(route.handler, options, sender);
  });
  scope.setErrorHandler(async (error, request, reply) => {
    if (!(error instanceof NotLeading)) throw error;
    if (commands.judge(request).kind !== 'none') throw refusal(reply, error);
    // The lead was lost while the command was carried out here: nothing of it counts.
    if (isStream(request)) throw interrupted();
    const answer = await askLeader(options, sender, sentWrite(request, options), true);
    if (answer === 'here') throw error;
    return passOn(reply, answer, options);
  });
}

/** `handler` where this process leads; elsewhere it only judges what the caller may, before anything is sent on. */
function whereItLeads(
  handler: RouteHandlerMethod,
  options: ForwardingOptions,
  sender: Sender,
): RouteHandlerMethod {
  return async function (request, reply) {
    const { fleet, commands } = options;
    const carryOut = () => {
      options.underWay.enter();
      reply.raw.once('close', options.underWay.leave);
      return handler.call(this, request, reply);
    };
    const forwarded = commands.accept(request, isStream(request));
    request.command = commandIdentity(request, forwarded?.id);
    if (fleet.leader().kind === 'here') return carryOut();
    if (forwarded !== undefined) throw new NotLeading();
    request.isElsewhere = true;
    const refused: unknown = await Promise.resolve(handler.call(this, request, reply)).catch(
      (error) => error,
    );
    if (!(refused instanceof NotLeading)) throw refused;
    // Carried out here after another leader had it, it must be the same command: that leader may have stored it.
    if (!isStream(request)) request.command ??= { id: options.newCommandId() };
    const answer = await askLeader(options, sender, sentWrite(request, options));
    if (answer !== 'here') return passOn(reply, answer, options);
    request.isElsewhere = false;
    return carryOut();
  };
}

/** The other methods of a path are refused wherever they come. */
function isWrite({ method, url }: RouteOptions): boolean {
  return typeof method === 'string' && WRITING.includes(method) && url.startsWith('/api/');
}

/** A form is still to be read; everything else was parsed from text. */
function isStream(request: FastifyRequest): boolean {
  return request.isMultipart?.() === true;
}

function sentWrite(request: FastifyRequest, { newCommandId }: ForwardingOptions): SentWrite {
  const { method, sentJson } = request;
  const headers = { ...request.headers, 'x-request-id': request.id };
  const body = isStream(request) ? request.raw : (sentJson ?? null);
  const command = request.command?.id ?? newCommandId();
  return { method, url: request.raw.url ?? '/', headers, body, command };
}

/**
 * The answer of whoever leads, before the time is over; `here` when that is this process, unless it shall be sent the write
 * nevertheless.
 */
async function askLeader(
  { fleet, refuseWrites }: ForwardingOptions,
  { send }: Sender,
  write: SentWrite,
  alsoHere = false,
): Promise<SentAnswer | 'here'> {
  const deadline = performance.now() + WAIT_MS;
  let isSent = false;
  while (performance.now() < deadline) {
    // That may come while a write waits for a leader. What was sent may have been stored.
    if (!isSent) refuseWrites?.();
    const led = fleet.leader();
    if (led.kind === 'here' && !alsoHere) return 'here';
    const target = targetOf(led);
    if (target !== undefined) {
      const sent = await send(target.leader, write, target.term);
      if (sent.kind === 'answered') return sent.answer;
      if (sent.kind === 'lost') isSent = true;
      if (sent.kind === 'lost' && !isRepeatable(write)) throw interrupted();
    }
    await fleet.changed(AGAIN_MS);
  }
  throw isSent ? unanswered() : noLeader();
}

function isRepeatable({ body }: SentWrite): boolean {
  return typeof body === 'string' || body === null;
}

type Target = { readonly leader: Leader; readonly term: AbortSignal };

const NEVER = new AbortController().signal;
setMaxListeners(0, NEVER);

function targetOf(led: WhereLed): Target | undefined {
  switch (led.kind) {
    case 'here':
      return { leader: led.leader, term: NEVER };
    case 'elsewhere':
      return led;
    case 'nobody':
      return undefined;
    default:
      return assertNever(led);
  }
}

function passOn(reply: FastifyReply, answer: SentAnswer, { forwarded }: ForwardingOptions): FastifyReply {
  forwarded();
  const { 'x-request-id': requestId, ...headers } = answerHeaders(answer);
  // The leader was given one by this process, and tells it to whoever gave it.
  const isAsked = reply.request.headers['x-request-id'] !== undefined || answer.statusCode >= 400;
  if (isAsked && requestId !== undefined) reply.header('x-request-id', requestId);
  const { statusCode, body } = answer;
  return reply
    .code(statusCode)
    .headers(headers)
    .send(statusCode === 204 ? undefined : body);
}

/** Tells the process that sent the write on to look for the leader again. */
function refusal(reply: FastifyReply, error: NotLeading): NotLeading {
  reply.header(NOT_LEADING_HEADER, '1');
  return error;
}

function noLeader(): RequestError {
  return new RequestError(503, 'ServiceUnavailableError', 'No process leads: nothing can be written for now');
}

function unanswered(): RequestError {
  return new RequestError(
    503,
    'ServiceUnavailableError',
    'The leader did not answer, and no other process leads yet: the write may have been stored',
    { advice: SEND_AGAIN },
  );
}

const SEND_AGAIN = 'With an Idempotency-Key it can be sent again safely';

function interrupted(): RequestError {
  return new RequestError(
    503,
    'ServiceUnavailableError',
    'The upload was interrupted as another process took over the writes: send it again',
    { advice: SEND_AGAIN },
  );
}
