import type { FastifyReply, FastifyRequest } from 'fastify';
import { reportError } from '../answers/report-error.ts';
import { readStreamRequest, type StreamContext } from './open-stream.ts';

export type StreamedLines = {
  readonly streaming: StreamContext;
  /** Called once the stream is open. */
  readonly lines: () => AsyncIterable<unknown>;
  /** Returns the error that the caller sees. */
  readonly failureOf: (error: unknown) => Error;
};

/**
 * Sends lines as server-sent events as they come: `line` for each, then `done` or `failed`. A caller that loses its rights loses the stream,
 * which ends the lines.
 */
export async function streamLines(
  { streaming, lines, failureOf }: StreamedLines,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  const asked = await readStreamRequest(streaming, request, reply);
  const opened = await asked.open();
  try {
    for await (const line of lines()) {
      if (!opened.isOpen()) return;
      opened.send(frame('line', line));
      await opened.drained();
    }
    opened.end(frame('done', {}));
  } catch (error) {
    opened.end(frame('failed', reportError(failureOf(error), request).error));
  }
}

function frame(event: string, data: unknown): string {
  return `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
}
