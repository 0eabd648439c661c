import { setMaxListeners } from 'node:events';
import type {
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  RouteHandlerMethod,
  RouteOptions,
} from 'fastify';
import { RequestError } from '../../../shared/request-error.ts';
import type { SchemaRegistry } from '../../../shared/schema/schema-registry.ts';
import { callAs } from '../../command/current-caller.ts';
import { NotLeading } from '../../command/not-leading.ts';
import type { Fleet } from '../../fleet/fleet.ts';
import type { Membership } from '../../fleet/membership.ts';
import { NOT_LEADING_HEADER } from '../answers/responses.ts';
import { networkOf } from '../requests/limit-requests.ts';
import { isWriting } from '../requests/writing-methods.ts';
import { commandIdentity } from './command-identity.ts';
import { type ForwardedCommands, signAnswers } from './forwarded-commands.ts';
import { createConcealBody } from './secret-bodies.ts';
import { answerHeaders, createSender, type Sender, type SentAnswer, type SentWrite } from './send-on.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** True: only the leader can carry the request out, although the request changes no content. */
    readonly isOfLeader?: boolean;
  }
}

export type ForwardingOptions = {
  readonly fleet: Pick<Fleet, 'leader' | 'changed'>;
  readonly membership: Membership;
  /** Verifies commands that other processes forward here. */
  readonly commands: ForwardedCommands;
  readonly newCommandId: () => string;
  /** Key that conceals bodies that may have passwords. */
  readonly bodyKey: Uint8Array;
  /** Called for every write that another process has answered. */
  readonly forwarded: () => void;
  /** Counts the writes that are carried out here. */
  readonly underWay: InFlight;
  /** Returns whether the next leader converts rows to other content types before it accepts writes. */
  readonly isConverting?: () => boolean;
  /** Throws RequestError while this process accepts no writes, even for another leader. */
  readonly refuseWrites?: () => void;
};

/** Counter of work in progress: `enter` at the start, `leave` at the end. */
export type InFlight = { enter(): void; leave(): void };

/** Maximum time that a write waits for a leader. A takeover is faster. */
const WAIT_MS = 10_000;
/** The same while rows are converted. The process that converts them is given up after this time. */
const CONVERSION_WAIT_MS = 300_000;
/** Interval between two attempts to reach a leader. */
const AGAIN_MS = 100;

/**
 * Forwards writes of this scope to the leader, and answers with the leader's answer. While there is no leader a write waits. If the leader
 * is lost, a JSON write is sent again as the same command, so that it takes effect once. An upload is a stream that can be read only once:
 * it is a 503 if the leader is lost.
 */
export function forwardWrites(
  scope: FastifyInstance,
  options: ForwardingOptions,
  registry: SchemaRegistry,
): AskLeader {
  const { commands, membership, bodyKey } = options;
  const conceal = createConcealBody(registry, bodyKey);
  const sender = createSender(membership);
  scope.addHook('onClose', async () => sender.close());
  signAnswers(scope, commands);
  scope.addHook('onRoute', (route) => {
    if (isWrite(route)) route.handler = runOnLeader(route.handler, { ...options, conceal }, sender);
  });
  scope.setErrorHandler(async (error, request, reply) => {
    if (!(error instanceof NotLeading)) throw error;
    if (commands.classify(request).kind !== 'none') {
      // The process that forwarded the write here looks for the leader again.
      reply.header(NOT_LEADING_HEADER, '1');
      throw error;
    }
    // The process lost the lease while it carried the command out: nothing of it takes effect.
    if (isStream(request)) throw interrupted();
    const answer = await sendToLeader(options, sender, sentWrite(request, options), true);
    if (answer === 'here') throw error;
    return passOn(reply, answer, options);
  });
  return (write) => sendToLeader(options, sender, write);
}

/** Resolves with the leader's answer, or with `here` if this process is the leader. Rejects with RequestError (503) after a time limit. */
export type AskLeader = (write: SentWrite) => Promise<SentAnswer | 'here'>;

type Leading = ForwardingOptions & { readonly conceal: (url: string, body: string) => string };

/** Returns a handler that runs `handler` in the leader. Another process runs it only to check the caller's rights, and then forwards. */
function runOnLeader(handler: RouteHandlerMethod, options: Leading, sender: Sender): RouteHandlerMethod {
  return async function (request, reply) {
    const { fleet, commands } = options;
    const forwarded = commands.accept(request, isStream(request));
    const carryOut = () => {
      options.underWay.enter();
      reply.raw.once('close', options.underWay.leave);
      return callAs(callerOf(request, forwarded !== undefined), () => handler.call(this, request, reply));
    };
    request.command = commandIdentity(request, forwarded?.id, options.conceal);
    if (fleet.leader().kind === 'here') return carryOut();
    if (forwarded !== undefined) throw new NotLeading();
    request.isElsewhere = true;
    const refused: unknown = await Promise.resolve(handler.call(this, request, reply)).catch(
      (error) => error,
    );
    if (!(refused instanceof NotLeading)) throw refused;
    // The leader may have stored the write. If this process carries it out later, it must be the same command.
    if (!isStream(request)) request.command ??= { id: options.newCommandId() };
    const answer = await sendToLeader(options, sender, sentWrite(request, options));
    if (answer !== 'here') return passOn(reply, answer, options);
    request.isElsewhere = false;
    return carryOut();
  };
}

/** Header of a forwarded write: the network of its caller. A client's own header has no effect. */
const NETWORK_HEADER = 'varve-network';

function callerOf({ headers, ip }: FastifyRequest, isForwarded: boolean): string {
  return isForwarded ? String(headers[NETWORK_HEADER]) : networkOf(ip);
}

/** Returns whether the leader has to carry out the requests of a route. */
function isWrite(route: RouteOptions): boolean {
  return isWriting(route) && (route.url.startsWith('/api/') || route.config?.isOfLeader === true);
}

/** Returns whether the body is a form, which the handler reads as a stream. All other bodies were parsed before. */
function isStream(request: FastifyRequest): boolean {
  return request.isMultipart?.() === true;
}

function sentWrite(request: FastifyRequest, { newCommandId }: ForwardingOptions): SentWrite {
  const { method, sentJson } = request;
  const headers = { ...request.headers, 'x-request-id': request.id, [NETWORK_HEADER]: networkOf(request.ip) };
  const body = isStream(request) ? request.raw : (sentJson ?? null);
  const command = request.command?.id ?? newCommandId();
  return { method, url: request.raw.url ?? '/', headers, body, command };
}

/** See AskLeader. With `alsoHere` the write is sent even if this process is the leader. */
export async function sendToLeader(
  { fleet, refuseWrites, isConverting }: Pick<ForwardingOptions, 'fleet' | 'refuseWrites' | 'isConverting'>,
  { send }: Sender,
  write: SentWrite,
  alsoHere = false,
): Promise<SentAnswer | 'here'> {
  const began = performance.now();
  const most = () => (isConverting?.() === true ? CONVERSION_WAIT_MS : WAIT_MS);
  let isSent = false;
  while (performance.now() - began < most()) {
    // The process may stop accepting writes while one waits for a leader. But a sent write may have been stored.
    if (!isSent) refuseWrites?.();
    const led = fleet.leader();
    if (led.kind === 'here' && !alsoHere) return 'here';
    if (led.kind !== 'nobody') {
      const sent = await send(led.leader, write, led.kind === 'elsewhere' ? led.term : NEVER);
      if (sent.kind === 'answered') return sent.answer;
      const isLost = sent.kind === 'lost';
      if (isLost && !isRepeatable(write)) throw interrupted();
      isSent ||= isLost;
    }
    await fleet.changed(AGAIN_MS);
  }
  throw isSent ? unanswered() : noLeader();
}

function isRepeatable({ body }: SentWrite): boolean {
  return typeof body === 'string' || body === null;
}

const NEVER = new AbortController().signal;
setMaxListeners(0, NEVER);

function passOn(reply: FastifyReply, answer: SentAnswer, { forwarded }: ForwardingOptions): FastifyReply {
  forwarded();
  const { 'x-request-id': requestId, ...headers } = answerHeaders(answer);
  // The leader's answer has the id that this process sent. The client gets it with an error, or if it sent an id itself.
  const isAsked = reply.request.headers['x-request-id'] !== undefined || answer.statusCode >= 400;
  if (isAsked && requestId !== undefined) reply.header('x-request-id', requestId);
  const { statusCode, body } = answer;
  return reply
    .code(statusCode)
    .headers(headers)
    .send(statusCode === 204 ? undefined : body);
}

function noLeader(): RequestError {
  return new RequestError('no-leader', 'There is no leader: writes are not possible for now');
}

function unanswered(): RequestError {
  return new RequestError(
    'leader-lost',
    'The leader did not answer, and no other process has taken over yet: the write may have been stored',
    { advice: SEND_AGAIN },
  );
}

const SEND_AGAIN = 'With an Idempotency-Key you can safely send it again';

function interrupted(): RequestError {
  return new RequestError(
    'upload-interrupted',
    'The upload was interrupted, because another process became the leader: send it again',
    { advice: SEND_AGAIN },
  );
}
