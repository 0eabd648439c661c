import { z } from 'zod';
import { defined } from '../../../shared/defined.ts';
import { NotLeading } from '../../command/not-leading.ts';
import type { DocumentHistory } from '../../history/document-history.ts';
import { mayAsk, unknownPath } from '../../history/question.ts';
import { type ForwardingOptions, sendToLeader } from './forward-writes.ts';
import { bodyOfLeader } from './leader-feed.ts';
import { createSender } from './send-on.ts';

/** Path at which the leader answers questions about the past for processes without a graph. */
export const HISTORY_PATH = '/_varve/history';

/** Body of such a request. */
export const ASKED_HISTORY = z.object({
  kind: z.enum(['versions', 'version', 'diff', 'deleted']),
  type: z.string(),
  documentId: z.string().optional(),
  version: z.string().optional(),
  query: z.string(),
});

/** Creates the history of a process without a graph: the leader answers, after this process has checked the caller's rights. */
export function createLeaderHistory({
  fleet,
  membership,
  newCommandId,
}: Pick<ForwardingOptions, 'fleet' | 'membership' | 'newCommandId'>): DocumentHistory & { close(): void } {
  const sender = createSender(membership);
  return {
    async answer(caller, question) {
      if (!mayAsk(caller, question)) throw unknownPath();
      const { authorization } = caller;
      const headers = { 'content-type': 'application/json', ...defined({ authorization }) };
      const asked = { method: 'POST', url: HISTORY_PATH, headers, body: JSON.stringify(question) };
      return bodyOfLeader(await sendToLeader({ fleet }, sender, { ...asked, command: newCommandId() }));
    },
    async restorable() {
      throw new NotLeading();
    },
    close: sender.close,
  };
}
