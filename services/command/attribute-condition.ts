import jsonLogic from 'json-logic-js';
import type { Attribute } from '../../shared/schema/content-type.ts';
import type { Check } from './check.ts';
import type { Data } from './parse-data.ts';

// Schema files may come from anywhere: their rules call no functions and write no logs.
jsonLogic.rm_operation('method');
jsonLogic.rm_operation('log');

/**
 * Returns how strictly an attribute is validated. If the condition in its schema is false for `data`, it is validated as in a draft. `data`
 * is the entry or component with the attribute. Strapi's admin panel hides such an attribute.
 */
export function checkOfAttribute<Some extends Check>(
  check: Some,
  { condition }: Attribute,
  data: Data,
): Some {
  if (condition === undefined || isTrue(condition, data)) return check;
  return { ...check, strength: 'draft', passwords: 'draft', isNewEntry: false };
}

/** A rule that cannot be evaluated hides nothing. */
function isTrue(condition: unknown, data: Data): boolean {
  try {
    return Boolean(jsonLogic.apply(condition as Parameters<typeof jsonLogic.apply>[0], data));
  } catch {
    return true;
  }
}
