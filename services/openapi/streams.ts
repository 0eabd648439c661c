import {
  envelopeSchema,
  headerParameter,
  objectSchema,
  queryParameter,
  TEXT_SCHEMA,
  withParameters,
} from './document-parts.ts';
import type { ApiOperation, Parameter, Paths, RouteOperation } from './openapi-types.ts';
import { jsonResponse, refusals } from './responses.ts';

export const STREAMS_TAG = 'Streams';

const EVENT_STREAM = 'text/event-stream';

const TICKET = queryParameter(
  'ticket',
  'Only for a stream: replaces the header `Authorization`, once. `POST /_varve/tickets` makes it.',
);

const LAST_EVENT_ID = headerParameter(
  'Last-Event-ID',
  'Only for a stream: the last `id` that the caller got. EventSource sends it when it connects again.',
);

const LIVE = queryParameter(
  'live',
  'Only for a stream, and required there. `true`: the answer, and again whenever it changes. `notify`: a notice whenever it changes.',
  { enum: ['true', 'notify'] },
);

/** Returns the operation of the change feed, which is also a stream. */
export function withFeedStream(operation: ApiOperation): ApiOperation {
  const example = 'event: changes\nid: 4711.Xq1bT0y8H3wM2v5sKdLpZA\ndata: {"data":[],"meta":{}}\n\n';
  return withStream(operation, [], { description: 'Pages as they come, without an end.', example });
}

/** Returns the operation of a list, which is also a stream of its answers. */
export function withLiveList(operation: RouteOperation): RouteOperation {
  const example = 'event: list\nid: Xq1bT0y8H3wM2v5sKdLpZA\ndata: {"data":[],"meta":{}}\n\n';
  return withStream(operation, [LIVE], { description: 'The answer whenever it changes.', example });
}

function withStream<Operation extends RouteOperation>(
  operation: Operation,
  parameters: readonly Parameter[],
  { description, example }: { readonly description: string; readonly example: string },
): Operation {
  const answered = operation.responses['200'] as { readonly content: object };
  const schema = { ...TEXT_SCHEMA, description };
  return {
    ...withParameters(operation, ...parameters, TICKET, LAST_EVENT_ID),
    responses: {
      ...operation.responses,
      200: { ...answered, content: { ...answered.content, [EVENT_STREAM]: { schema, example } } },
    },
  };
}

/** Tickets of streams. */
export const TICKETS: Paths[string] = {
  post: {
    operationId: 'createTicket',
    tags: [STREAMS_TAG],
    summary: 'Make a ticket for a stream',
    description:
      'EventSource sends no `Authorization`: open its stream with `?ticket=`. A ticket is accepted once, within 60 s.',
    responses: {
      201: jsonResponse(
        'The ticket.',
        envelopeSchema(
          objectSchema({ ticket: TEXT_SCHEMA, expiresAt: { type: 'string', format: 'date-time' } }, [
            'ticket',
            'expiresAt',
          ]),
        ),
        { data: { ticket: 'q83vEjRWeJCrze8SNFZ4kA', expiresAt: '2026-01-02T03:05:05.678Z' }, meta: {} },
      ),
      ...refusals(['BadRequest', 'Unauthorized', 'TooManyRequests', 'Unavailable']),
    },
  },
};
