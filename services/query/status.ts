import type { World } from '../../shared/read-index/read-index.ts';
import type { Problems } from './problems.ts';
import { type QueryValue, queryValueText } from './query-string.ts';

/** `status` → the world a request is answered in; absent = published (SEMANTICS sections 0a and 4). */
export function resolveStatus(value: QueryValue | undefined, problems: Problems): World {
  if (value === undefined || value === 'published') return 'published';
  if (value === 'draft') return 'draft';
  // Strapi takes an empty status for draft: refused here, a reader who forgot the value gets no unpublished rows.
  const message = `Invalid parameter at 'status'. Expected 'published' or 'draft', received: ${queryValueText(value)}`;
  problems.push({
    phase: 'parameter',
    message,
    param: 'status',
    found: value,
    accepted: ['published', 'draft'],
  });
  return 'published';
}
