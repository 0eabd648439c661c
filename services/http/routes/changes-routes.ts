import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { RequestError } from '../../../shared/request-error.ts';
import type { ChangeFeed } from '../../changes/change-feed.ts';
import { reportError } from '../answers/report-error.ts';
import { sendOwn } from '../api/cacheable.ts';
import { wantsStream } from '../requests/wants-stream.ts';
import { retryFrame } from '../streams/event-streams.ts';
import { createFeedStreams, type FeedStreams, presentPage } from '../streams/feed-streams.ts';
import { queryOf, register } from './entry-routes.ts';
import { readStreamRequest, type StreamContext } from './open-stream.ts';
import { sendData } from './send-data.ts';

export type ChangesRoutesOptions = StreamContext & {
  /** Absent: this process serves content types that are being replaced. */
  readonly changes?: ChangeFeed | undefined;
};

/** Registers `GET /api/_changes`: the changes of documents that the caller may see, in pages or as a stream. Registers tickets, too. */
export function registerChanges(app: FastifyInstance, options: ChangesRoutesOptions): void {
  const feeds = createFeedStreams(options);
  register(app, '/api/_changes', {
    GET: async (request, reply) => {
      if (wantsStream(request)) return streamChanges(options, feeds, request, reply);
      const api = options.apiFor(request.rights);
      const { reader, since } = feedOf(options).reader(api, queryOf(request));
      const body = Buffer.from(JSON.stringify(presentPage(await reader.page(since))));
      sendOwn({ ...api.delivery, isDraft: reader.hasDrafts, hasStream: true }, reply, body);
    },
  });
  register(app, '/_varve/tickets', {
    POST: async (request, reply) =>
      sendData(reply, options.tickets.create(request.headers.authorization), { status: 201 }),
  });
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
  const { reader, since } = feedOf(options).reader(options.apiFor(asked.rights), asked.query);
  const stream = await asked.open();
  await feeds.sendTo(reader, asked.last ?? since, stream).catch((error: unknown) => {
    reportError(error as Error, request);
    stream.end(retryFrame());
  });
}
