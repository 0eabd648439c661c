import type { LoginRecord } from '../../shared/access/login-record.ts';
import type { EntryValues } from '../../shared/document/events.ts';
import type { CommandIdentity, EventMetadata } from '../../shared/event-store/event-store.ts';
import type { Uid } from '../../shared/schema/content-type.ts';

/** Author of a command, for the metadata of its events. `via`: what the author does, in place of the kind of the command. */
export type Author = Pick<EventMetadata, 'actor' | 'correlationId' | 'traceId' | 'causationId' | 'via'>;

/**
 * Command of a client. `body`, `status` and `locale` come unchanged from the request (parsed JSON body or undefined; query parameters,
 * undefined when absent): the handler validates them. `identity` makes a repetition harmless: the command is carried out once, and a
 * repetition gets an answer again.
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

/** Writes the one document of a single type. `documentId`: the existing document; omitted if there is none yet. */
export type PutSingleCommand = EntryCommand & {
  readonly kind: 'put-single';
  readonly documentId?: string;
  readonly body: unknown;
};

/** Acts on one entry, or with locale `*` on every locale of the document. */
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

export type RegisterCommand = CommandBase & {
  readonly kind: 'register-user';
  /** Data that is validated as the body of a new user. */
  readonly data: { readonly username: string; readonly email: string; readonly password: string } & {
    readonly [attribute: string]: unknown;
  };
  /** Hash of the password. */
  readonly hash: string;
  readonly record: LoginRecord;
};

/** A write of the login. */
export type AccountCommand =
  | RegisterCommand
  | (CommandBase & {
      readonly kind: 'change-account';
      /** Name of the change in the metadata of its event. */
      readonly via: string;
      readonly documentId: string;
      /** Returns the stored values that change; nothing is written if there are none. Throws RequestError if the change is refused. */
      readonly change: (values: EntryValues) => EntryValues;
    });

/** Writes the values of an earlier version. Creates the document again if it was deleted. */
export type RestoreCommand = EntryCommand & {
  readonly kind: 'restore';
  readonly documentId: string;
  readonly body: unknown;
};

export type WriteCommand = CreateCommand | UpdateCommand | PutSingleCommand | RestoreCommand;

export type Command = WriteCommand | ActionCommand | UserCommand | AccountCommand;

/** Why reads do not show a stored write. */
export type Unshown = {
  /** `document-refused`: they will not, unless the document or the index changes. */
  readonly code: 'not-shown-yet' | 'document-refused';
  readonly message: string;
};

export type CommandResult = {
  readonly documentId: string;
  /** Locale of the entry; null on types without i18n; `*` if the command was for every locale. */
  readonly locale: string | null;
  /** Version of the row in the answer: the published one after a publication, else the draft; `live` without draft & publish. */
  readonly version: 'draft' | 'published' | 'live';
  /** Position of the last event; if nothing had to be written, position of the state that was read. */
  readonly position: bigint;
  /** False if the events are stored but reads do not show them: answer 202. */
  readonly applied: boolean;
  /** Reason if `applied` is false. */
  readonly unshown?: Unshown;
  /** True if anything was written. */
  readonly changed: boolean;
};
