import { canonicalJson } from '../../../shared/canonical-json.ts';
import { timeOfDayMilliseconds } from '../../../shared/read-index/column.ts';
import { timeText } from '../../../shared/read-index/instant-text.ts';
import type { ScalarAttribute } from '../../../shared/schema/content-type.ts';
import { hasMilliseconds } from '../../../shared/schema/time-form.ts';

/** Converts a scalar of an event to the form in rows and answers (SEMANTICS section 12). null stays null. */
export function storedScalar(attribute: Pick<ScalarAttribute, 'type' | 'varve'>, value: unknown): unknown {
  if (value === null || value === undefined) return null;
  switch (attribute.type) {
    case 'time':
      return timeText(timeOfDayMilliseconds(String(value)), hasMilliseconds(attribute));
    case 'datetime':
      return isIsoInstant(value) ? value : new Date(value as string | number).toISOString();
    case 'json':
    case 'blocks':
      return canonicalJson(value);
    case 'biginteger':
      return String(value);
    default:
      return value;
  }
}

function isIsoInstant(value: unknown): boolean {
  return typeof value === 'string' && value.length === 24 && value.endsWith('Z');
}
