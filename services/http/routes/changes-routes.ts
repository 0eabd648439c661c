import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { RequestError } from '../../../shared/request-error.ts';
import type { ChangeFeed } from '../../changes/change-feed.ts';
import { reportError } from '../answers/report-error.ts';
import { JSON_HEADERS } from '../answers/responses.ts';
import { sendOwn } from '../api/cacheable.ts';
import { acceptForLeader } from '../forwarding/accept-for-leader.ts';
import type { ForwardingOptions } from '../forwarding/forward-writes.ts';
import { ASKED_PAGE, PAGE_PATH } from '../forwarding/leader-feed.ts';
import { wantsStream } from '../requests/wants-stream.ts';
import { retryFrame } from '../streams/event-streams.ts';
import { createFeedStreams, type FeedStreams, presentPage } from '../streams/feed-streams.ts';
import { queryOf, register } from './entry-routes.ts';
import { readStreamRequest, type StreamContext } from './open-stream.ts';
import { sendData } from './send-data.ts';

export type ChangesRoutesOptions = StreamContext & {
  /** Absent: this process serves content types that are being replaced. */
  readonly changes?: ChangeFeed | undefined;
  readonly forwarding: Pick<ForwardingOptions, 'fleet' | 'commands'>;
};

/** Registers `GET /api/_changes`: the changes of documents that the caller may see, in pages or as a stream. Registers tickets, too. */
export function registerChanges(app: FastifyInstance, options: ChangesRoutesOptions): void {
  const feeds = createFeedStreams(options);
  register(app, '/api/_changes', {
    GET: async (request, reply) => {
      if (wantsStream(request)) return streamChanges(options, feeds, request, reply);
      const api = options.apiFor(request.rights);
      const { authorization } = request.headers;
      const { reader, since } = feedOf(options).reader({ ...api, authorization }, queryOf(request));
      const body = Buffer.from(JSON.stringify(presentPage(await reader.page(since))));
      sendOwn({ ...api.delivery, isDraft: reader.hasDrafts, hasStream: true }, reply, body);
    },
  });
  const members = Object.keys(ASKED_PAGE.shape);
  app.post(PAGE_PATH, { config: { members } }, (request, reply) => answerPage(options, request, reply));
  register(app, '/_varve/tickets', {
    POST: async (request, reply) =>
      sendData(reply, options.tickets.create(request.headers.authorization), { status: 201 }),
  });
}

/** Reads a page for a process without a graph, with the rights of its caller. Other senders get a 404. */
async function answerPage(
  options: ChangesRoutesOptions,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<string> {
  acceptForLeader(options.forwarding, request);
  const { query, since, until } = ASKED_PAGE.parse(request.body);
  const { authorization } = request.headers;
  const { reader } = feedOf(options).reader({ ...options.apiFor(request.rights), authorization }, query);
  reply.headers(JSON_HEADERS);
  return JSON.stringify(await reader.page(since, BigInt(until)));
}

function feedOf({ changes }: ChangesRoutesOptions): ChangeFeed {
  if (changes !== undefined) return changes;
  throw new RequestError('starting', 'The content types are being replaced: try again soon');
}

async function streamChanges(
  options: ChangesRoutesOptions,
  feeds: FeedStreams,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  const asked = await readStreamRequest(options, request, reply);
  const { authorization } = asked;
  const caller = { ...options.apiFor(asked.rights), authorization };
  const { reader, since } = feedOf(options).reader(caller, asked.query);
  const stream = await asked.open();
  await feeds.sendTo(reader, asked.last ?? since, stream).catch((error: unknown) => {
    reportError(error as Error, request);
    stream.end(retryFrame());
  });
}
