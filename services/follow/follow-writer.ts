import type { DocumentEvent } from '../../shared/document/events.ts';
import type { DocumentName } from '../../shared/document/recorded-rows.ts';
import type { Locks } from '../../shared/locks.ts';
import { contentTypeOf } from '../../shared/schema/schema-registry.ts';
import { createCommit } from '../command/commit.ts';
import type { CommandEnvironment } from '../command/environment.ts';

/** Writer of the content of a followed Strapi. */
export type FollowWriter = ReturnType<typeof createFollowWriter>;

const AUTHOR = { actor: { kind: 'strapi' } } as const;

/**
 * Creates the writer of a leader. It shares `locks` with the command handler, so that commands and copied changes of a document run one
 * after the other.
 */
export function createFollowWriter(environment: CommandEnvironment, locks: Locks) {
  const commit = createCommit(environment, locks);
  return {
    /**
     * Locks the document and appends the events that `decide` returns. Resolves when reads show them. Rejects with NotLeading if another
     * process is the leader.
     */
    async write({ type, documentId }: DocumentName, decide: () => readonly DocumentEvent[]): Promise<void> {
      await commit({
        type: contentTypeOf(environment.registry(), type),
        documentId,
        author: AUTHOR,
        via: 'follow',
        plan: () => ({ claims: [], decide }),
      });
    },
  };
}
