import type { SchemaRegistry } from '../schema/schema-registry.ts';
import { may, mayReadDrafts, mayReadHistory, type Rights } from './rights.ts';

const READS = ['find', 'findOne'] as const;

/**
 * Returns what callers with `rights` can see and those with `others` cannot, in words of rights; empty if there is nothing. Private
 * attributes have no right of their own, because no answer has them.
 */
export function additionalReads(registry: SchemaRegistry, rights: Rights, others: Rights): readonly string[] {
  // Only callers with full access can explain queries.
  if (rights.kind === 'full-access') return ['full access'];
  const reads = [...registry.contentTypes.keys()].flatMap((type) =>
    READS.filter((action) => may(rights, type, action) && !may(others, type, action)).map(
      (action) => `${type}.${action}`,
    ),
  );
  const more = [
    { name: 'drafts', has: mayReadDrafts },
    { name: 'history', has: mayReadHistory },
  ].filter(({ has }) => has(rights) && !has(others));
  return [...more.map(({ name }) => name), ...reads];
}
