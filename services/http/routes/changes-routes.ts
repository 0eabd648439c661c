import type { FastifyInstance, FastifyRequest } from 'fastify';
import { RequestError } from '../../../shared/request-error.ts';
import type { ChangeFeed, FeedPage } from '../../changes/change-feed.ts';
import { sendOwn } from '../api/cacheable.ts';
import type { CallerApi } from '../api/caller-apis.ts';
import { queryOf, register } from './entry-routes.ts';

export type ChangesRoutesOptions = {
  /** Absent: this process serves content types that are being replaced. */
  readonly changes: ChangeFeed | undefined;
  readonly apiOf: (request: FastifyRequest) => CallerApi;
};

/** `GET /api/_changes`: what happened to the documents that the caller may see. */
export function registerChanges(app: FastifyInstance, { changes, apiOf }: ChangesRoutesOptions): void {
  register(app, '/api/_changes', {
    GET: async (request, reply) => {
      if (changes === undefined)
        throw new RequestError('starting', 'The content types are being replaced: try again soon');
      const api = apiOf(request);
      const { reader, since } = changes.reader(api, queryOf(request));
      const body = Buffer.from(JSON.stringify(presentPage(await reader.page(since))));
      sendOwn({ ...api.delivery, isDraft: reader.hasDrafts }, reply, body);
    },
  });
}

function presentPage({ items, next, hasMore }: FeedPage) {
  return { data: items, meta: { next, hasMore } };
}
