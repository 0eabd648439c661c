import type { CommandIdentity } from '../../../shared/event-store/event-store.ts';
import type { ContentType } from '../../../shared/schema/content-type.ts';
import type { AnswerTags } from '../../delivery/answer-tags.ts';
import type { ShownRows } from '../../query/gather-rows.ts';

/** Actions that Strapi's REST API cannot express with PUT and `status` alone: `POST /api/<plural>/<documentId>/actions/<action>`. */
export const ENTRY_ACTIONS = ['publish', 'unpublish', 'discard-draft'] as const;
export type EntryAction = (typeof ENTRY_ACTIONS)[number];

/** A write that is stored. `body` is the entry as it is now; null when the index did not show it in time (202). */
export type WriteAnswer = {
  readonly documentId: string;
  readonly position: bigint;
  readonly body: Uint8Array | null;
};

/** The document that a write concerns. */
export type EntryTarget = { readonly type: ContentType; readonly documentId: string };

/** Sender of a request. */
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
  /** Set by the answer: another one may differ although the content is the same. */
  varies: boolean;
};

/**
 * Operations of the routes, free of HTTP. `query` is a request's raw query string, `body` its parsed JSON (undefined if there was none),
 * and `command` the identity of a write; an answer is the JSON to send. `asking` is the request of the answer. Every refusal throws a
 * RequestError. A write resolves once it is durable and visible to every later read of this process.
 */
export type ContentApi = {
  list(type: ContentType, query: string, asking?: Asking): Promise<Uint8Array>;
  entry(type: ContentType, documentId: string, query: string, asking?: Asking): Promise<Uint8Array>;
  create(type: ContentType, query: string, body: unknown, command?: CommandIdentity): Promise<WriteAnswer>;
  update(target: EntryTarget, query: string, body: unknown, command?: CommandIdentity): Promise<WriteAnswer>;
  /** Succeeds if there is nothing to remove. Resolves with the position from which on it is removed. */
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
  /** The locales of the content that the caller may find, with the default one. */
  locales(): Promise<Uint8Array>;
  readonly users: UsersApi;
};

/** Users are named by their numeric id (SEMANTICS section 11). */
export type UsersApi = {
  list(query: string, asking?: Asking): Promise<Uint8Array>;
  count(query: string): Promise<Uint8Array>;
  /** undefined: there is no such user. */
  one(id: string, query: string): Promise<Uint8Array | undefined>;
  /** A user as the user may see it, never in `data`. Whose it is, is the caller's to know. */
  me(id: number, query: string): Promise<Uint8Array | undefined>;
  create(body: unknown, command?: CommandIdentity): Promise<WriteAnswer>;
  update(id: string, body: unknown, command?: CommandIdentity): Promise<WriteAnswer>;
  /** The user as it was. */
  remove(id: string, command?: CommandIdentity): Promise<WriteAnswer>;
};
