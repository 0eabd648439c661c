import type { ContentGraphReader } from '../../shared/document/entry.ts';
import type { EventStore } from '../../shared/event-store/event-store.ts';
import type { Lead } from '../../shared/fleet/lease.ts';
import type { Uid } from '../../shared/schema/content-type.ts';
import type { SchemaRegistry } from '../../shared/schema/schema-registry.ts';
import type { Author } from './command.ts';
import type { PasswordScheme } from './password-hashes.ts';

/** Dependencies of the write side. They include the clock and all randomness. */
export type CommandEnvironment = {
  readonly eventStore: EventStore;
  /** The graph, which the projector keeps up to date with the log. */
  readonly graph: ContentGraphReader;
  /** Resolves when the graph shows everything up to `position`, and the read index too unless it has `visible`. */
  readonly applied: (position: bigint) => Promise<void>;
  /** Resolves when the read index shows `position`. The next command on the document need not wait for that. */
  readonly visible?: (position: bigint) => Promise<void>;
  /** Returns why the read index does not accept a document, in a sentence; undefined if it accepts all of it. Absent: it accepts everything. */
  readonly refusal?: (type: Uid, documentId: string) => string | undefined;
  /** The content types in force. */
  readonly registry: () => SchemaRegistry;
  readonly defaultLocale: string;
  /** The namespace: the first part of every stream name. */
  readonly space: string;
  /** Lease of this process, after its graph has caught up with all earlier events. Throws NotLeading without a lease. */
  readonly lead: () => Lead;
  /** Returns whether events appended under a lease precede any newer claim. Absent: no other process can claim. */
  readonly counts?: (position: bigint, lead: Lead) => Promise<boolean>;
  /** Author of a command that does not name one. */
  readonly author?: () => Author | undefined;
  /** True: an entry can be published only with its required relations and files. */
  readonly strictRelations?: boolean;
  /** Scheme of the hashes of users' passwords. Absent: argon2. */
  readonly userPasswords?: PasswordScheme;
  /** Numbers that a user's `role` may have. Absent: the numbers of Strapi's two roles. */
  readonly roles?: () => ReadonlySet<number>;
  readonly now: () => Date;
  readonly newDocumentId: () => string;
  /** Returns a text that no other command has. Event ids are derived from it. */
  readonly newEventId: () => string;
  /** Time limit for a stored command to be applied before it answers `applied: false`. Default 10,000. */
  readonly appliedTimeoutMs?: number;
};

/** The parts of a command's environment that decide an action. */
export type PlanningEnvironment = Pick<
  CommandEnvironment,
  'graph' | 'registry' | 'defaultLocale' | 'strictRelations'
>;
