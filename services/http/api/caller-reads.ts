import type { ReadIndex } from '../../../shared/read-index/read-index.ts';
import type { ContentType } from '../../../shared/schema/content-type.ts';
import { runQuery } from '../../operating/observe-query.ts';
import type { QueryRequest } from '../../query/plan-query.ts';
import type { Asking } from './content-api.ts';
import type { ContentApiOptions } from './content-api-options.ts';

type Asked = { readonly type: ContentType; readonly query: string; readonly asking: Asking | undefined };

/** Creates the reads of a caller: each is planned by the caller's rules, and observed. */
export function createCallerReads(options: ContentApiOptions) {
  const { registry, index, defaultLocale, rules, caller, observe = runQuery } = options;
  const request = (type: ContentType, queryString: string): QueryRequest => ({
    registry,
    type,
    queryString,
    defaultLocale,
    ...rules,
    ...caller,
  });
  return {
    /** Returns the request that a plan is made of. */
    request,
    /** Plans a query, and answers it from the index. */
    read<Plan, Body>(
      { type, query, asking }: Asked,
      plan: (request: QueryRequest) => Plan,
      answer: (plan: Plan, observed: ReadIndex) => Promise<Body>,
    ): Promise<Body> {
      return observe({
        index,
        type: type.uid,
        queryString: query,
        requestId: asking?.id,
        plan: () => plan(request(type, query)),
        answer,
      });
    },
  };
}
