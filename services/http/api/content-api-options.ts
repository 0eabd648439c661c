import type { ReadIndex } from '../../../shared/read-index/read-index.ts';
import type { SchemaRegistry } from '../../../shared/schema/schema-registry.ts';
import type { CommandHandler } from '../../command/command-handler.ts';
import type { ObserveQuery } from '../../operating/observe-query.ts';
import type { CallerRules, RequestRules } from '../../query/plan-query.ts';

/** Dependencies of the content API. */
export type ContentApiOptions = {
  readonly registry: SchemaRegistry;
  readonly index: ReadIndex;
  readonly commands: CommandHandler;
  readonly defaultLocale: string;
  /** True: `/api/users` has `data` and `meta`. False: a bare array, as in Strapi. */
  readonly usersEnvelope: boolean;
  /** Returns the numeric id of a user's only row. */
  readonly userId: (documentId: string) => number | undefined;
  readonly rules: RequestRules;
  /** Parts of a query that the caller's rights allow. */
  readonly caller: CallerRules;
  /** Runs each read; absent: reads are not observed. */
  readonly observe?: ObserveQuery;
};
