import type { SchemaRegistry } from '../schema/schema-registry.ts';
import { may, mayReadDrafts, type Rights } from './rights.ts';

const READS = ['find', 'findOne'] as const;

/**
 * Returns what callers with `rights` see and those with `others` do not, in words of rights; empty: nothing. Private attributes have no
 * right of their own: no answer has them.
 */
export function additionalReads(registry: SchemaRegistry, rights: Rights, others: Rights): readonly string[] {
  // Explanations of queries are for full access alone.
  if (rights.kind === 'full-access') return ['full access'];
  const reads = [...registry.contentTypes.keys()].flatMap((type) =>
    READS.filter((action) => may(rights, type, action) && !may(others, type, action)).map(
      (action) => `${type}.${action}`,
    ),
  );
  return mayReadDrafts(rights) && !mayReadDrafts(others) ? ['drafts', ...reads] : reads;
}
