import type * as z from 'zod';
import type { ContentGraph } from '../../projections/graph/content-graph.ts';
import type { EventStore, StoredEvent } from '../../shared/event-store/event-store.ts';
import type { SchemaWarning } from '../../shared/schema/schema-problem.ts';
import type { SchemaRegistry } from '../../shared/schema/schema-registry.ts';
import type { AddedFormats } from '../assets/pictures/file-formats.ts';
import type { ImportWriter } from '../command/import-writer.ts';
import type { FollowStatus } from '../follow/follow-state.ts';
import type { ReadSide } from '../read-side/read-side.ts';
import type { ServedGenerations } from '../read-side/served-generations.ts';
import type { ArchiveFile } from '../strapi/archive.ts';

/**
 * Something operators ask of a data directory that only its holder can do. Written once: a server does it for commands that
 * find it (operator-listener.ts), and on a free directory the command does it itself (open-operations.ts).
 */
export type Operation<Form extends z.ZodType, Line> = {
  /** What is asked for, as JSON. */
  readonly form: Form;
  /**
   * The answer, line by line: JSON values, bigints as texts. Throws an Error with a sentence for the operator. `signal`: nobody
   * waits for the answer any more, or the server stops.
   */
  run(context: OperatorContext, request: z.output<Form>, signal: AbortSignal): AsyncIterable<Line>;
};

/** What operations work on. */
export type OperatorContext = {
  readonly data: string;
  readonly space: string;
  readonly log: EventStore;
  /** Of the generation that serves. */
  readonly graph: ContentGraph;
  readonly generations: ServedGenerations;
  /** The process that holds the directory, of a server: it follows the log while an operation runs. undefined: nothing moves but by operations. */
  readonly server: { readonly pid: number } | undefined;
  /** What the server leaves out of its content types; none where no server has read them. */
  readonly schemaWarnings: readonly SchemaWarning[];
  /** The event that the server stopped before, as it cannot read it. */
  readonly unreadable?: () => StoredEvent | undefined;
  /** What imports go through where a server can write. */
  readonly imports?: {
    readonly registry: SchemaRegistry;
    readonly defaultLocale: string;
    readonly writer: ImportWriter;
    /** Takes a file of an archive. */
    readonly takeAsset: (file: ArchiveFile) => Promise<void>;
    /** Makes the smaller pictures of a file that has none. */
    readonly addFormats: (documentId: string) => Promise<AddedFormats>;
  };
  /** State of the follower of a Strapi; absent: it follows none. */
  readonly follow?: () => FollowStatus;
  /** Where reads are answered. Opened when it is first asked for where no server has it open. */
  readonly readSide: () => Promise<ReadSide>;
};

export function defineOperation<Form extends z.ZodType, Line>(
  operation: Operation<Form, Line>,
): Operation<Form, Line> {
  return operation;
}
