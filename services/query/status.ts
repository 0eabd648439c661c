import { plainText } from '../../shared/plain-text.ts';
import type { World } from '../../shared/read-index/read-index.ts';
import { invalidKey, invalidValue, type Problems } from './problems.ts';
import type { QueryValue } from './query-string.ts';

export type StatusRules = {
  readonly mayReadDrafts: boolean;
  /** Treats every other value as draft, as Strapi does without `documents.strictParams` (SEMANTICS section 10). */
  readonly lenient: boolean;
};

/** Resolves `status` into the world of the answer; absent: published (SEMANTICS sections 0a and 4). */
export function resolveStatus(
  value: QueryValue | undefined,
  problems: Problems,
  { mayReadDrafts, lenient }: StatusRules,
): World {
  if (value === undefined || value === 'published') return 'published';
  if (value === 'draft') {
    if (mayReadDrafts) return 'draft';
    problems.push(invalidKey('status', null, 'status', ['published']));
    return 'published';
  }
  if (lenient) return mayReadDrafts ? 'draft' : 'published';
  // Strapi treats an empty status as draft. It is refused here, so that a reader who forgot the value gets no
  // unpublished rows.
  const expected = `'published' or 'draft', received: ${plainText(value)}`;
  const accepted = mayReadDrafts ? ['published', 'draft'] : ['published'];
  problems.push(invalidValue('status', value, accepted, { expected }));
  return 'published';
}
