import type { ReadIndex } from '../../shared/read-index/read-index.ts';
import type { SchemaRegistry } from '../../shared/schema/schema-registry.ts';
import type { CommandHandler } from '../command/command-handler.ts';
import type { ObserveQuery } from '../operating/observe-query.ts';
import type { CallerRules, RequestRules } from '../query/plan-query.ts';

/** What the content API is made of. */
export type ContentApiOptions = {
  readonly registry: SchemaRegistry;
  readonly index: ReadIndex;
  readonly commands: CommandHandler;
  readonly defaultLocale: string;
  /** False: `/api/users` as Strapi answers it, a bare array. */
  readonly usersEnvelope: boolean;
  /** The numeric id of a user's only row. */
  readonly userId: (documentId: string) => number | undefined;
  readonly rules: RequestRules;
  /** What the caller's rights leave of a query. */
  readonly caller: CallerRules;
  /** Runs each read; absent: nobody looks. */
  readonly observe?: ObserveQuery;
};
