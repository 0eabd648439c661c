import type { CommandIdentity } from '../../../shared/event-store/event-store.ts';
import type { ContentType } from '../../../shared/schema/content-type.ts';
import type { Unshown } from '../../command/command.ts';
import type { AnswerTags } from '../../delivery/answer-tags.ts';
import type { ShownRows } from '../../query/gather-rows.ts';

/** Actions that Strapi's REST API cannot express with PUT and `status` alone: `POST /api/<plural>/<documentId>/actions/<action>`. */
export const ENTRY_ACTIONS = ['publish', 'unpublish', 'discard-draft'] as const;
export type EntryAction = (typeof ENTRY_ACTIONS)[number];

/** Answer to a stored write. `body`: the entry as it is now; null if reads do not show it, or not in time (202). */
export type WriteAnswer = {
  readonly documentId: string;
  readonly position: bigint;
  readonly body: Uint8Array | null;
  /** Why reads do not show the entry. */
  readonly unshown?: Unshown;
};

/** The document that a write concerns. */
export type EntryTarget = { readonly type: ContentType; readonly documentId: string };

/** A request for an answer, and facts about the answer. */
export type Asking = {
  /** Names the request in logs. */
  readonly id: string;
  /** False after the client has disconnected. */
  readonly isWanted: () => boolean;
  /** Set by the answer: it shows drafts. */
  isDraft: boolean;
  /** Receives the tags of the answer. */
  readonly tags?: AnswerTags | undefined;
  readonly shown?: ShownRows | undefined;
  /** Set by the answer: the next answer may differ even if the content is the same. */
  varies: boolean;
};

/**
 * Operations of the routes, independent of HTTP. `query` is the raw query string of a request. `body` is its parsed JSON, undefined if
 * there was none. `command` is the identity of a write. `asking` is the request. A read resolves with the JSON to send. Every refusal
 * throws a RequestError. A write resolves once it is durable and visible to every later read of this process.
 */
export type ContentApi = {
  list(type: ContentType, query: string, asking?: Asking): Promise<Uint8Array>;
  /** Completes what somebody is typing. */
  suggest(type: ContentType, query: string, asking?: Asking): Promise<Uint8Array>;
  entry(type: ContentType, documentId: string, query: string, asking?: Asking): Promise<Uint8Array>;
  create(type: ContentType, query: string, body: unknown, command?: CommandIdentity): Promise<WriteAnswer>;
  update(target: EntryTarget, query: string, body: unknown, command?: CommandIdentity): Promise<WriteAnswer>;
  /** Writes the values of an earlier version as a draft. */
  restore(target: EntryTarget, query: string, body: unknown, command?: CommandIdentity): Promise<WriteAnswer>;
  /** Resolves with the position of the removal. Also succeeds if there is nothing to remove. */
  remove(target: EntryTarget, query: string, command?: CommandIdentity): Promise<bigint>;
  act(
    target: EntryTarget,
    action: EntryAction,
    query: string,
    command?: CommandIdentity,
  ): Promise<WriteAnswer>;
  single(type: ContentType, query: string, asking?: Asking): Promise<Uint8Array>;
  /** Creates the document if there is none. */
  putSingle(type: ContentType, query: string, body: unknown, command?: CommandIdentity): Promise<WriteAnswer>;
  removeSingle(type: ContentType, query: string, command?: CommandIdentity): Promise<bigint>;
  /** Returns the default locale, and the locales of the content that the caller may find. */
  locales(): Promise<Uint8Array>;
  readonly users: UsersApi;
};

/** Users are named by their numeric id (SEMANTICS section 11). */
export type UsersApi = {
  list(query: string, asking?: Asking): Promise<Uint8Array>;
  count(query: string): Promise<Uint8Array>;
  /** Returns a user; undefined if there is none. */
  one(id: string, query: string): Promise<Uint8Array | undefined>;
  /** Returns a user without `data`. The route has checked that the sender is this user. */
  me(id: number, query: string): Promise<Uint8Array | undefined>;
  create(body: unknown, command?: CommandIdentity): Promise<WriteAnswer>;
  update(id: string, body: unknown, command?: CommandIdentity): Promise<WriteAnswer>;
  /** Answers with the user as it was. */
  remove(id: string, command?: CommandIdentity): Promise<WriteAnswer>;
};
