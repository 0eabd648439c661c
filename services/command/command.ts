import type { CommandIdentity, EventMetadata } from '../../shared/event-store/event-store.ts';
import type { Uid } from '../../shared/schema/content-type.ts';

/** Who asks for a command, and through what. It stands in the metadata of the events. */
export type Author = Pick<EventMetadata, 'actor' | 'correlationId' | 'traceId' | 'causationId'>;

/**
 * What a client asks to be written. `body`, `status` and `locale` are as the request has them (parsed JSON body or undefined;
 * query parameters, undefined when absent): the handler judges them. `identity` makes a repeated command harmless: it is carried
 * out once, by whichever process leads, and answered again.
 */
type CommandBase = {
  readonly identity?: CommandIdentity | undefined;
  readonly author?: Author | undefined;
};
type EntryCommand = CommandBase & {
  readonly type: Uid;
  readonly status?: unknown;
  readonly locale?: unknown;
};

export type CreateCommand = EntryCommand & { readonly kind: 'create'; readonly body: unknown };

export type UpdateCommand = EntryCommand & {
  readonly kind: 'update';
  readonly documentId: string;
  readonly body: unknown;
};

/** Writes the one document of a single type. `documentId`: of the document there is; left out when there is none yet. */
export type PutSingleCommand = EntryCommand & {
  readonly kind: 'put-single';
  readonly documentId?: string;
  readonly body: unknown;
};

/** On one entry, or with locale `*` on every locale of the document. */
export type ActionCommand = EntryCommand & {
  readonly kind: 'publish' | 'unpublish' | 'discard-draft' | 'delete';
  readonly documentId: string;
};

/** Users have no envelope, no versions and numeric ids (SEMANTICS section 11). `id` is the path segment. */
export type UserCommand = CommandBase &
  (
    | { readonly kind: 'create-user'; readonly body: unknown }
    | { readonly kind: 'update-user'; readonly id: string; readonly body: unknown }
    | { readonly kind: 'delete-user'; readonly id: string }
  );

export type WriteCommand = CreateCommand | UpdateCommand | PutSingleCommand;

export type Command = WriteCommand | ActionCommand | UserCommand;

export type CommandResult = {
  readonly documentId: string;
  /** The entry's locale; null on types without i18n; `*` when the command was for every locale. */
  readonly locale: string | null;
  /** The row that answers the command: the published one after a publication, else the draft, `live` without D&P. */
  readonly version: 'draft' | 'published' | 'live';
  /** Of the last event; where nothing had to be written, of the state that was read. */
  readonly position: bigint;
  /** False when the events are stored but the graph did not show them in time: answer 202. */
  readonly applied: boolean;
  /** Whether anything was written. */
  readonly changed: boolean;
};
