import type { ContentType } from '../../shared/schema/content-type.ts';
import type { Problems } from '../query/problems.ts';
import type { QueryModel, QueryScope } from '../query/query-model.ts';

/** Where the names of a query are looked up, and its problems so far. */
export type InstantContext = {
  readonly type: ContentType;
  readonly model: QueryModel;
  readonly scope: QueryScope;
  readonly problems: Problems;
};
