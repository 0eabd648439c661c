import type { FastifyInstance, FastifyRequest } from 'fastify';
import { valueAt } from '../../../shared/map-values.ts';
import { RequestError } from '../../../shared/request-error.ts';
import { NotLeading } from '../../command/not-leading.ts';
import {
  ANSWER_HEADER,
  COMMAND_HEADER,
  type CommandVerdict,
  createCommandVerifier,
  DIGEST_TRAILER,
  digestOfBody,
  type ForwardedCommand,
} from '../../fleet/command-proof.ts';
import type { Membership } from '../../fleet/membership.ts';
import { POSITION_HEADER } from '../requests/await-position.ts';
import { digestBytes } from './digest-bytes.ts';

/** Commands that other processes of the log send here. */
export type ForwardedCommands = {
  /** Verifies the head of a request. Later calls return the same verdict. */
  classify(request: FastifyRequest): CommandVerdict;
  /**
   * Returns the command that another process has sent; undefined if a client sent the request. Throws RequestError if the proof is not
   * valid or is about another body. Throws NotLeading if the proof is about an earlier term.
   */
  accept(request: FastifyRequest, isStream: boolean): ForwardedCommand | undefined;
};

/** Creates the check of commands from other processes. */
export function createForwardedCommands(membership: Membership): ForwardedCommands {
  const verifyHead = createCommandVerifier(membership);
  const verdicts = new WeakMap<FastifyRequest, CommandVerdict>();
  const classify = (request: FastifyRequest): CommandVerdict => {
    const { method, headers, raw } = request;
    return valueAt(verdicts, request, () => verifyHead({ method, url: raw.url ?? '', headers }));
  };
  return {
    classify,
    accept(request, isStream) {
      const verdict = classify(request);
      if (verdict.kind === 'none') return undefined;
      const { command } = verdict;
      if (command === undefined) throw invalidProof();
      if (verdict.kind === 'refused') throw new NotLeading();
      const isSame = isStream
        ? command.body.kind === 'stream'
        : command.body.kind === 'text' && command.body.digest === digestOfBody(request.sentJson ?? '');
      if (!isSame) throw invalidProof();
      if (isStream) request.receivedWhole = watchBody(request, command);
      return command;
    },
  };
}

/** Signs the answers to forwarded commands in this scope, so that their senders know which process answered. */
export function signAnswers(scope: FastifyInstance, commands: ForwardedCommands): void {
  scope.addHook('onSend', (request, reply, payload, done) => {
    const { command } = { command: undefined, ...commands.classify(request) };
    if (command !== undefined) {
      const position = String(reply.getHeader(POSITION_HEADER) ?? '');
      const body = payload === undefined || payload === null ? '' : (payload as Uint8Array | string);
      reply.header(ANSWER_HEADER, command.sign({ status: reply.statusCode, position, body }));
    }
    done(null, payload);
  });
}

/** Returns a function that resolves when the body has arrived completely and unchanged, and throws RequestError otherwise. */
function watchBody({ raw }: FastifyRequest, command: ForwardedCommand): () => Promise<void> {
  const received = digestBytes();
  // Without the pause the listener would start the stream before the handler reads it.
  raw.pause().on('data', received.add);
  const ended = new Promise<void>((resolve, reject) => {
    raw.once('end', resolve).once('close', () => reject(invalidProof()));
  });
  ended.catch(() => {});
  return async () => {
    await ended;
    const { digest, length } = received.end();
    if (!command.isWhole(raw.trailers[DIGEST_TRAILER], digest, length)) throw invalidProof();
  };
}

function invalidProof(): RequestError {
  return new RequestError('invalid-header', `Invalid header ${COMMAND_HEADER}`, {
    header: COMMAND_HEADER,
    advice: 'Only processes of one log send this header to each other: omit it',
  });
}
