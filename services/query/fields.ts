import { invalidKey, type Problems } from './problems.ts';
import { acceptedNames, lookUp, type QueryModel, type QueryScope } from './query-model.ts';
import { isQueryList, type QueryValue } from './query-string.ts';

export type FieldsContext = {
  readonly scope: QueryScope;
  readonly param: string;
  readonly problems: Problems;
};

/** Members that every answer has, even if `fields` does not name them. */
const ALWAYS = ['id', 'documentId', '__component'];

/** Resolves `fields` (a text with commas, or a list) into the members of an answer; null: all members (SEMANTICS section 8). */
export function resolveFields(
  value: QueryValue | undefined,
  model: QueryModel,
  context: FieldsContext,
): ReadonlySet<string> | null {
  if (value === undefined || value === null) return null;
  const names = fieldNames(value);
  if (names === null) {
    context.problems.push({
      phase: 'form',
      message: 'Invalid fields parameter. Expected a string or an array of strings',
      param: context.param,
      found: value,
      accepted: acceptedNames(model, context.scope, ['scalar']),
    });
    return null;
  }
  checkNames(names, model, context);
  return names.includes('*') ? null : new Set([...ALWAYS, ...names]);
}

/** Maximum entries of a list. */
const MAX_FIELDS = 100;

/** Returns null if a part is neither text nor absent. In a list each part is one name. */
function fieldNames(value: QueryValue): readonly string[] | null {
  if (typeof value === 'string') return value.split(',').map((name) => name.trim());
  if (!isQueryList(value) || value.length > MAX_FIELDS) return null;
  const names = value.filter((part) => part !== null);
  return names.every((name) => typeof name === 'string' && !name.includes(','))
    ? names.map((name) => String(name).trim())
    : null;
}

function checkNames(names: readonly string[], model: QueryModel, context: FieldsContext): void {
  for (const name of names) {
    if (name === '*') continue;
    const attribute = lookUp(model, name, context.scope);
    if (attribute !== undefined && attribute !== 'hidden' && attribute.kind === 'scalar') continue;
    const accepted = acceptedNames(model, context.scope, ['scalar']);
    context.problems.push(invalidKey(name, attribute === undefined ? null : name, context.param, accepted));
  }
}
