import { timeOfDayMilliseconds } from '../../../shared/read-index/column.ts';
import { timeText } from '../../../shared/read-index/instant-text.ts';
import type { ScalarAttribute, ScalarType } from '../../../shared/schema/content-type.ts';
import { storedScalar } from '../store/stored-scalar.ts';

/**
 * Converts a stored value to an attribute's new type: the result must convert back to the original, else it is null. A password's hash
 * never becomes another type, and no other value becomes a hash.
 */
export function convertScalar(before: ScalarType, now: ScalarAttribute, value: unknown): unknown {
  const same = before === now.type ? value : castExactly(value, before, now.type);
  // Only the form of a time may have changed.
  const converted = now.type === 'time' ? storedScalar(now, same) : same;
  return now.enum !== undefined && !now.enum.includes(String(converted)) ? null : converted;
}

function castExactly(value: unknown, from: ScalarType, to: ScalarType): unknown {
  if (from === 'password' || to === 'password') return null;
  const converted = cast(value, to);
  return converted !== null && cast(converted, from) === value ? converted : null;
}

const WHOLE = /^(0|-?[1-9]\d*)$/;

/** Returns the value in another type; null if that type has no such value. */
function cast(value: unknown, to: ScalarType): unknown {
  if (typeof value === 'object') return null;
  const text = String(value);
  switch (to) {
    case 'integer':
      return WHOLE.test(text) && Number.isSafeInteger(Number(text)) ? Number(text) : null;
    case 'biginteger':
      return WHOLE.test(text) && BigInt.asIntN(64, BigInt(text)) === BigInt(text) ? text : null;
    case 'decimal':
    case 'float':
      return typeof value !== 'boolean' && text.trim() !== '' && Number.isFinite(Number(text))
        ? Number(text)
        : null;
    case 'boolean':
      return text === 'true' || text === 'false' ? text === 'true' : null;
    case 'date':
      return isoOf(text)?.slice(0, 10) ?? null;
    case 'datetime':
      return isoOf(text) ?? null;
    case 'time':
      return /^\d\d:\d\d:\d\d(\.\d{1,3})?$/.test(text) ? timeText(timeOfDayMilliseconds(text)) : null;
    case 'json':
    case 'blocks':
      return null;
    default:
      return text;
  }
}

function isoOf(text: string): string | undefined {
  if (!/^\d{4}-\d\d-\d\d/.test(text)) return undefined;
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : new Date(at).toISOString();
}
