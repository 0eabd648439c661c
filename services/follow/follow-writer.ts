import type { DocumentEvent } from '../../shared/document/events.ts';
import type { DocumentName } from '../../shared/document/recorded-rows.ts';
import type { Locks } from '../../shared/locks.ts';
import { contentTypeOf } from '../../shared/schema/schema-registry.ts';
import { createCommit } from '../command/commit.ts';
import type { CommandEnvironment } from '../command/environment.ts';

/** Writes what a followed Strapi has, as the leader of the log. */
export type FollowWriter = {
  /**
   * Appends the events that `decide` gives for the document as it is then. Resolves when reads show them; rejects with NotLeading
   * where another process is the leader.
   */
  write(name: DocumentName, decide: () => readonly DocumentEvent[]): Promise<void>;
};

const AUTHOR = { actor: { kind: 'strapi' } } as const;

/**
 * Creates a writer. It shares `locks` with the command handler, so that commands and copied changes of a document run one after the
 * other.
 */
export function createFollowWriter(environment: CommandEnvironment, locks: Locks): FollowWriter {
  const commit = createCommit(environment, locks);
  return {
    async write({ type, documentId }, decide) {
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
