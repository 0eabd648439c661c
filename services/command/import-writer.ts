import { AppendTooLarge } from '../../shared/event-store/event-store.ts';
import type { Locks } from '../../shared/locks.ts';
import type { CommandEnvironment } from './environment.ts';
import type { ImportOutcome } from './importer.ts';
import { NotLeading } from './not-leading.ts';
import { uncertainAppends } from './uncertain-appends.ts';
import { claimKey, uniqueProblems } from './unique-values.ts';

/** Writes imported documents while the API's commands run. */
export type ImportWriter = {
  /** Throws NotLeading if this process is not the leader. */
  epoch(): number;
  /** Writes a document. Resolves when reads of this process show it, or with the reasons why it was not written. */
  write(document: ImportOutcome & { readonly kind: 'document' }): Promise<readonly string[]>;
};

export const EXISTS_OTHERWISE = 'the document exists and differs from this line';

/** Returns the reason why a document can never be stored: it is too large, because its events are stored together or not at all. */
export function reasonTooLarge(error: unknown): string {
  if (error instanceof AppendTooLarge) return `the document is too large: ${error.message}`;
  throw error;
}

/** Creates the writer of an import. `locks` are shared with the commands, so that a unique value is claimed only once. */
export function createImportWriter(environment: CommandEnvironment, locks: Locks): ImportWriter {
  const { graph, applied, lead } = environment;
  const appends = uncertainAppends(environment);
  return {
    epoch: () => lead().epoch,
    write: ({ type, documentId, stream, events, claims }) =>
      locks.run(claims.map(claimKey), async () => {
        await appends.settle();
        const taken = uniqueProblems(graph, claims, documentId);
        if (taken.length > 0) return taken.map(({ path, message }) => `${path}: ${message}`);
        const { epoch, fence } = lead();
        // The process lost the lease during the import and claimed it again: the events name the previous lease.
        if (events.some(({ metadata }) => metadata.epoch !== epoch)) throw new NotLeading();
        const result = await appends.append(stream, 'none', events, fence).catch(reasonTooLarge);
        if (typeof result === 'string') return [result];
        if (result.kind === 'conflict') return [EXISTS_OTHERWISE];
        if (result.kind === 'fenced') throw new NotLeading();
        await applied(result.position);
        // The document is from this import or an earlier one. The graph knows it, unless its events have no effect.
        if (graph.streamRevision(type, documentId) === undefined)
          throw new Error(
            `another process is the leader now: ${type} ${documentId} was not written, run the import again`,
          );
        return [];
      }),
  };
}
