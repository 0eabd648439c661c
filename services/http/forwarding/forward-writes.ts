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
import { NotLeading } from '../../command/not-leading.ts';
import type { Fleet } from '../../fleet/fleet.ts';
import type { Membership } from '../../fleet/membership.ts';
import { NOT_LEADING_HEADER } from '../answers/responses.ts';
import { isWriting } from '../requests/writing-methods.ts';
import { commandIdentity } from './command-identity.ts';
import { type ForwardedCommands, signAnswers } from './forwarded-commands.ts';
import { createConcealBody } from './secret-bodies.ts';
import { answerHeaders, createSender, type Sender, type SentAnswer, type SentWrite } from './send-on.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Only the leader can carry the request out, although it changes no content. */
    readonly isOfLeader?: boolean;
  }
}

export type ForwardingOptions = {
  readonly fleet: Pick<Fleet, 'leader' | 'changed'>;
  readonly membership: Membership;
  /** Verifies commands that other processes forward here. */
  readonly commands: ForwardedCommands;
  readonly newCommandId: () => string;
  /** Conceals bodies that may have passwords. */
  readonly bodyKey: Uint8Array;
  /** Called for every write that another process has answered. */
  readonly forwarded: () => void;
  /** Called for every write that is carried out here: its end is `leave`. */
  readonly underWay: InFlight;
  /** Throws RequestError while this process accepts no writes, whichever process is the leader. */
  readonly refuseWrites?: () => void;
};

/** Counts starts and ends. */
export type InFlight = { enter(): void; leave(): void };

/** Time limit of a write for a leader; longer than a takeover takes. */
const WAIT_MS = 10_000;
/** Interval for asking a silent leader again. */
const AGAIN_MS = 100;

/**
 * Sends writes of this scope to the leader, with their body, and answers with the leader's answer. While there is no leader the write
 * waits. A JSON write is sent again if its leader is lost, as the same command, so that it takes effect once. An upload is a stream that
 * passes only once, and is answered 503 if its leader is lost during it.
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
    const answer = await askLeader(options, sender, sentWrite(request, options), true);
    if (answer === 'here') throw error;
    return passOn(reply, answer, options);
  });
  return (write) => askLeader(options, sender, write);
}

/** Answer of the leader within a time limit; `here` if that is this process. Rejects with RequestError (503) without one. */
export type AskLeader = (write: SentWrite) => Promise<SentAnswer | 'here'>;

type Leading = ForwardingOptions & { readonly conceal: (url: string, body: string) => string };

/** `handler` in the leader; other processes only check the caller's rights before they forward. */
function runOnLeader(handler: RouteHandlerMethod, options: Leading, sender: Sender): RouteHandlerMethod {
  return async function (request, reply) {
    const { fleet, commands } = options;
    const carryOut = () => {
      options.underWay.enter();
      reply.raw.once('close', options.underWay.leave);
      return handler.call(this, request, reply);
    };
    const forwarded = commands.accept(request, isStream(request));
    request.command = commandIdentity(request, forwarded?.id, options.conceal);
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

/** Other methods of a path are refused in every process. */
function isWrite(route: RouteOptions): boolean {
  return isWriting(route) && (route.url.startsWith('/api/') || route.config?.isOfLeader === true);
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

/** Answer of the leader within the time limit; `here` if that is this process, unless it must be sent the write nevertheless. */
async function askLeader(
  { fleet, refuseWrites }: ForwardingOptions,
  { send }: Sender,
  write: SentWrite,
  alsoHere = false,
): Promise<SentAnswer | 'here'> {
  const deadline = performance.now() + WAIT_MS;
  let isSent = false;
  while (performance.now() < deadline) {
    // This may become true while a write waits for a leader. A sent write may have been stored.
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
  // This process gave the leader a request id, and passes it on if the client sent one.
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
