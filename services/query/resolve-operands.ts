import type { Scalar } from '../../shared/read-index/bool-query.ts';
import type { ScalarType } from '../../shared/schema/content-type.ts';
import { type Cast, castBoolean, castOperand, castText } from './cast-operand.ts';
import { type Operands, type OperatorName, operatorOf } from './operators.ts';
import { isQueryList, isQueryObject, type QueryValue } from './query-string.ts';

/** One comparison, or several of which one must be true (a list given to an operator with a single value). */
export type ResolvedOperands =
  | { readonly ok: true; readonly operator: OperatorName; readonly comparisons: readonly Operands[] }
  | { readonly ok: false; readonly message: string; readonly found: unknown; readonly accepted: string };

type Refusal = ResolvedOperands & { ok: false };

/** Casts an operand of the query string to the attribute's type (SEMANTICS section 2). */
export function resolveOperands(name: OperatorName, operand: QueryValue, type: ScalarType): ResolvedOperands {
  if (isQueryObject(operand)) return refused(`Invalid operand of ${name}`, operand, 'a value or a list');
  const { operand: form, list } = operatorOf(name);
  if (form === 'flag') return resolveFlag(name, operand);
  const isList = isQueryList(operand);
  if (form === 'pair' && !(isList && operand.length === 2)) {
    return refused(`Invalid operand of ${name}: expected two values`, operand, 'a list of two values');
  }
  const cast = form === 'text' ? castText : (text: string) => castOperand(type, text);
  const values = castAll(name, isList ? operand : [operand], cast);
  if (isRefusal(values)) return values;
  if (!isList || form === 'list' || form === 'pair')
    return { ok: true, operator: name, comparisons: [values] };
  // `IN` is never true for NULL, while `=` with NULL is `IS NULL`.
  if (list === 'in' && !values.includes(null)) return { ok: true, operator: '$in', comparisons: [values] };
  return { ok: true, operator: name, comparisons: values.map((value) => [value]) };
}

function resolveFlag(name: OperatorName, operand: QueryValue): ResolvedOperands {
  if (typeof operand !== 'string' && operand !== null) {
    return refused(`Invalid operand of ${name}`, operand, 'true or false');
  }
  // A missing value is false, as in Strapi.
  const flag = castBoolean(operand ?? 'false');
  if (!flag.ok) return refused(`Invalid operand of ${name}: ${operand}`, operand, flag.accepted);
  return { ok: true, operator: name, comparisons: [[flag.value]] };
}

function castAll(
  name: OperatorName,
  operands: readonly QueryValue[],
  cast: (text: string) => Cast,
): (Scalar | null)[] | Refusal {
  const values: (Scalar | null)[] = [];
  for (const operand of operands) {
    if (operand === null) {
      values.push(null);
      continue;
    }
    if (typeof operand !== 'string') return refused(`Invalid operand of ${name}`, operand, 'a value');
    const result = cast(operand);
    if (!result.ok) return refused(result.message, operand, result.accepted);
    values.push(result.value);
  }
  return values;
}

function isRefusal(value: (Scalar | null)[] | Refusal): value is Refusal {
  return !Array.isArray(value);
}

function refused(message: string, found: unknown, accepted: string): Refusal {
  return { ok: false, message, found, accepted };
}
