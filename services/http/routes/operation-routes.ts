import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { formProblems } from '../../../shared/form-problems.ts';
import { RequestError } from '../../../shared/request-error.ts';
import {
  describeOperations,
  HTTP_OPERATIONS,
  type HttpOperation,
  type RunOperation,
} from '../../operator/http-operations.ts';
import { acceptsStream } from '../requests/wants-stream.ts';
import { partOfPath, register } from './entry-routes.ts';
import type { StreamContext } from './open-stream.ts';
import { WITH_DATA } from './refuse-unknown-names.ts';
import { dataOf } from './resource-routes.ts';
import { sendData } from './send-data.ts';
import { streamLines } from './stream-lines.ts';

const PATH = '/_varve/operations';
/** Operations that a process runs at the same time for callers over HTTP. */
const MOST_AT_ONCE = 8;
/** Lines of an answer that is not a stream, which has to be in memory. */
const MOST_LINES = 10_000;

export type OperationRoutes = {
  /** Absent: this process has no data directory. */
  readonly operations?: RunOperation;
};

/**
 * Registers the operations of operators for callers with full access. The answer is a stream of server-sent events if the caller accepts
 * one: `line` for each line, then `done` or `failed`. Otherwise it is JSON, sent at the end. An operation ends when its caller disconnects.
 */
export function registerOperations(
  scope: FastifyInstance,
  { operations: run }: OperationRoutes,
  streaming: StreamContext,
): void {
  if (run === undefined) return;
  let running = 0;
  const begin = (name: string, form: unknown, reply: FastifyReply) => {
    const gone = new AbortController();
    reply.raw.once('close', () => gone.abort(new Error('no client waits for the answer')));
    return run(name, form, gone.signal);
  };
  // Other processes of the log send POST requests to this path.
  scope.get(PATH, async (_request, reply) => sendData(reply, describeOperations()));
  register(scope, '/_varve/projections', {
    GET: async (_request, reply) => sendData(reply, await lastOf(begin('status', {}, reply))),
  });
  register(scope, `${PATH}/:name`, {
    config: WITH_DATA,
    POST: async (request, reply) => {
      const operation = HTTP_OPERATIONS.get(partOfPath(request, 'name'));
      if (operation === undefined) throw new RequestError('not-found', 'Not Found');
      const form = formOf(operation, request);
      if (running >= MOST_AT_ONCE)
        throw new RequestError('busy', `${running} operations are running: try again when one has ended`);
      running++;
      try {
        const lines = () => begin(operation.name, form, reply);
        if (acceptsStream(request.headers.accept))
          await streamLines({ streaming, lines, failureOf }, request, reply);
        else sendData(reply, await answerOf(operation, lines()));
      } finally {
        running--;
      }
    },
  });
}

/** Returns the request of an operation, without its confirmation. Throws RequestError (400) with all problems. */
function formOf({ form }: HttpOperation, request: FastifyRequest): object {
  const parsed = form.safeParse(dataOf(request) ?? {});
  if (parsed.success) {
    const { confirm: _, ...rest } = parsed.data;
    return rest;
  }
  const errors = formProblems(parsed.error).map(({ path, message }) => ({
    path: path === '' ? 'data' : `data.${path}`,
    message,
  }));
  const [first] = errors;
  const message =
    errors.length === 1 ? `${first?.path} ${first?.message}` : `${errors.length} errors occurred`;
  const accepted = Object.keys(form.shape);
  throw new RequestError('invalid-body', message, { source: 'body', path: first?.path, errors, accepted });
}

async function answerOf({ answer }: HttpOperation, lines: AsyncIterable<unknown>): Promise<unknown> {
  if (answer === 'one') return lastOf(lines);
  const found: unknown[] = [];
  try {
    for await (const line of lines) {
      found.push(line);
      if (found.length > MOST_LINES) throw tooMany();
    }
  } catch (error) {
    throw failureOf(error);
  }
  return found;
}

async function lastOf(lines: AsyncIterable<unknown>): Promise<unknown> {
  let last: unknown = null;
  try {
    for await (const line of lines) last = line;
  } catch (error) {
    throw failureOf(error);
  }
  return last;
}

/** An operation fails with a message for the operator. Errors of the program stay as they are. */
function failureOf(error: unknown): Error {
  const isBug = [TypeError, RangeError, ReferenceError].some((kind) => error instanceof kind);
  if (isBug || error instanceof RequestError) return error as Error;
  const { message } = error as Error;
  return new RequestError('operation-failed', message, {}, { cause: error });
}

function tooMany(): RequestError {
  const message = `The answer has more than ${MOST_LINES} lines: ask for a stream`;
  return new RequestError('query-too-large', message, { header: 'Accept', accepted: 'text/event-stream' });
}
