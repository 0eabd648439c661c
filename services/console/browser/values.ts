import { formatMoment, shorten } from './format.ts';
import type { Content } from './html.ts';

const MOMENT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;

/** Returns a value as a short text, for a cell. */
export function showCell(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value === 'string') return MOMENT.test(value) ? formatMoment(value) : shorten(value, 60);
  return typeof value === 'object' ? shorten(JSON.stringify(value), 60) : String(value);
}

/** Returns a value in full: texts as they are, and everything else as JSON. */
export function showWhole(value: unknown): Content {
  if (value === null || value === undefined) return '';
  if (typeof value === 'string') return MOMENT.test(value) ? formatMoment(value) : value;
  return typeof value === 'object' ? JSON.stringify(value, null, 2) : showCell(value);
}
