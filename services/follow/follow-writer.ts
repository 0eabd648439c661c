import type { DocumentEvent } from '../../shared/document/events.ts';
import type { DocumentName } from '../../shared/document/recorded-rows.ts';
import type { Locks } from '../../shared/locks.ts';
import { contentTypeOf } from '../../shared/schema/schema-registry.ts';
import { createCommit } from '../command/commit.ts';
import type { CommandEnvironment } from '../command/environment.ts';

/** Writes what a followed Strapi has. */
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
     * Appends the events that `decide` gives for the document as it is then. Resolves when reads show them; rejects with NotLeading
     * where another process is the leader.
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
