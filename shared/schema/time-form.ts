import { isRecord } from '../json-record.ts';
import type { Attribute } from './content-type.ts';

/** Returns `pluginOptions` of an attribute whose times always have three digits of a second. */
export function withMilliseconds(pluginOptions: unknown): unknown {
  const options = isRecord(pluginOptions) ? pluginOptions : {};
  const varve = isRecord(options['varve']) ? options['varve'] : {};
  return { ...options, varve: { ...varve, milliseconds: true } };
}

/** Returns whether answers show the attribute's times with three digits of a second, as Strapi does on SQLite. */
export function hasMilliseconds({ varve }: Pick<Attribute, 'varve'>): boolean {
  return isRecord(varve) && varve['milliseconds'] === true;
}
