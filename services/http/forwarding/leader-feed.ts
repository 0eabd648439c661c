import { z } from 'zod';
import { defined } from '../../../shared/defined.ts';
import { type ErrorCode, RequestError } from '../../../shared/request-error.ts';
import type { ChangeFeed, FeedPage, FeedReader } from '../../changes/change-feed.ts';
import { parseChangesRequest } from '../../changes/selection.ts';
import { NotLeading } from '../../command/not-leading.ts';
import { type ForwardingOptions, sendToLeader } from './forward-writes.ts';
import { createSender, type SentAnswer } from './send-on.ts';

/** Path at which the leader reads pages of the feed for processes without a graph. */
export const PAGE_PATH = '/_varve/changes/page';

/** Body of such a request: the query string of the feed, the token, and the position that reads of the sender show. */
export const ASKED_PAGE = z.object({
  query: z.string(),
  since: z.string().optional(),
  until: z.string().regex(/^\d{1,20}$/),
});

/** Creates the feed of a process without a graph: the leader reads its pages. `position`: the position that reads of this process show. */
export function createLeaderFeed(
  { fleet, membership, newCommandId }: Pick<ForwardingOptions, 'fleet' | 'membership' | 'newCommandId'>,
  position: () => bigint,
): ChangeFeed & { close(): void } {
  const sender = createSender(membership);
  return {
    reader(caller, query) {
      const { selection, since } = parseChangesRequest(caller, query);
      const { authorization } = caller;
      const page: FeedReader['page'] = async (token) => {
        const body = JSON.stringify({ query, since: token, until: String(position()) });
        const headers = { 'content-type': 'application/json', ...defined({ authorization }) };
        const asked = { method: 'POST', url: PAGE_PATH, headers, body, command: newCommandId() };
        return bodyOfLeader<FeedPage>(await sendToLeader({ fleet }, sender, asked));
      };
      // The leader checks the rights of one caller, so no other caller gets its pages.
      const name = `${selection.name} ${authorization ?? ''}`;
      return { reader: { name, hasDrafts: selection.statuses.has('draft'), page }, ...defined({ since }) };
    },
    close: sender.close,
  };
}

/** Codes of refusals that have none in their body, because Strapi has the same error: by its name. */
const CODES: { readonly [name: string]: ErrorCode } = {
  ValidationError: 'invalid-query',
  PaginationError: 'invalid-pagination',
  ApplicationError: 'not-applicable',
  UnauthorizedError: 'unauthorized',
  ForbiddenError: 'forbidden',
  NotFoundError: 'not-found',
  RateLimitError: 'rate-limited',
};

/** Returns the body of an answer. Throws the leader's refusal. */
export function bodyOfLeader<Body>(answer: SentAnswer | 'here'): Body {
  if (answer === 'here') throw new NotLeading();
  const body = JSON.parse(answer.body.toString());
  if (answer.statusCode === 200) return body;
  const { name, code = CODES[name] ?? 'no-leader', message, details } = body.error;
  throw new RequestError(code, message, details);
}
