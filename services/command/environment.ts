import type { ContentGraphReader } from '../../shared/document/entry.ts';
import type { EventStore } from '../../shared/event-store/event-store.ts';
import type { Lead } from '../../shared/fleet/lease.ts';
import type { SchemaRegistry } from '../../shared/schema/schema-registry.ts';
import type { Author } from './command.ts';

/** What the write side is given. The clock and all chance come from here. */
export type CommandEnvironment = {
  readonly eventStore: EventStore;
  /** Level with the log, as the projector keeps it. */
  readonly graph: ContentGraphReader;
  /** Resolves when the graph shows everything up to `position`, and the read index too unless it has `visible`. */
  readonly applied: (position: bigint) => Promise<void>;
  /** Resolves when the read index shows it; the next command on the document need not wait for that. */
  readonly visible?: (position: bigint) => Promise<void>;
  /** The content types in force. */
  readonly registry: () => SchemaRegistry;
  readonly defaultLocale: string;
  /** First part of every stream name. */
  readonly space: string;
  /** The lease this process holds, with its graph level with all that came before. Throws NotLeading where it holds none. */
  readonly lead: () => Lead;
  /** Whether events that were appended under a lease stand before any newer claim. Absent: nobody else can claim. */
  readonly counts?: (position: bigint, lead: Lead) => Promise<boolean>;
  /** On whose behalf a command runs that does not say itself. */
  readonly author?: () => Author | undefined;
  readonly now: () => Date;
  readonly newDocumentId: () => string;
  /** Any text that no other command has; event ids are derived from it. */
  readonly newEventId: () => string;
  /** How long a stored command waits to be applied before it answers `applied: false`. Default 10,000. */
  readonly appliedTimeoutMs?: number;
};
