import { assertNever } from '../assert-never.ts';
import type { BoolQuery } from './bool-query.ts';

export type TextQuery = Extract<BoolQuery, { readonly kind: 'text' }>;

/** Returns a function that says whether a text satisfies a comparison. The text has to be folded if `fold` is set. */
export function textComparison({
  match,
  value,
}: Pick<TextQuery, 'match' | 'value'>): (text: string) => boolean {
  switch (match) {
    case 'equals':
      return (text) => text === value;
    case 'contains':
      return (text) => text.includes(value);
    case 'prefix':
      return (text) => text.startsWith(value);
    case 'suffix':
      return (text) => text.endsWith(value);
    default:
      return assertNever(match);
  }
}
