import type { BoolQuery, Scalar } from '../../shared/read-index/bool-query.ts';
import { textForm } from '../../shared/read-index/column.ts';
import { foldText } from '../../shared/read-index/fold-text.ts';
import type { Model, ScalarType } from '../../shared/schema/content-type.ts';
import { queryableScalars } from '../../shared/schema/system-attributes.ts';

type Comparison = Extract<BoolQuery, { kind: 'term' | 'terms' | 'range' | 'exists' | 'text' }>;

/** Returns whether a value of a row satisfies a comparison. */
export function compares(model: Model, query: Comparison, value: Scalar): boolean {
  switch (query.kind) {
    case 'exists':
      return true;
    case 'term':
      return value === query.value;
    case 'terms':
      return query.values.some((wanted) => wanted === value);
    case 'range': {
      const { gt, gte, lt, lte } = query;
      if (gt !== undefined && compare(value, gt) <= 0) return false;
      if (gte !== undefined && compare(value, gte) < 0) return false;
      if (lt !== undefined && compare(value, lt) >= 0) return false;
      return lte === undefined || compare(value, lte) <= 0;
    }
    case 'text': {
      const type: ScalarType = queryableScalars(model).get(query.field)?.type ?? 'string';
      const text = query.fold ? foldText(textForm(type, value)) : textForm(type, value);
      const at = text.indexOf(query.value);
      if (query.match === 'equals') return text === query.value;
      if (query.match === 'prefix') return at === 0;
      if (query.match === 'contains') return at >= 0;
      return text.slice(Math.max(0, text.length - query.value.length)) === query.value;
    }
  }
}

/** Compares two values. NULL is the greatest. Texts are ordered by code points. */
export function compare(a: Scalar | null, b: Scalar | null): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null);
  if (typeof a !== 'string' || typeof b !== 'string') return a < b ? -1 : a > b ? 1 : 0;
  const left = Array.from(a, (char) => char.codePointAt(0) as number);
  const right = Array.from(b, (char) => char.codePointAt(0) as number);
  const differing = left.findIndex((code, i) => code !== right[i]);
  if (differing < 0) return left.length - right.length;
  return (left[differing] as number) - (right[differing] ?? -1);
}
