import { MOST_JSON_LEVELS } from '../../shared/json-depth.ts';
import { isRecord } from '../../shared/json-record.ts';
import { uidOfComponent } from '../../shared/schema/component-uids.ts';
import type { Model } from '../../shared/schema/content-type.ts';
import type { SchemaRegistry } from '../../shared/schema/schema-registry.ts';
import type { ImportNotes } from './import-notes.ts';

type Data = { readonly [name: string]: unknown };
type Scope = { readonly registry: SchemaRegistry; readonly notes: ImportNotes };

/**
 * Returns a row without the values that nest deeper than a request may, which are noted. Later code would exhaust the stack. Only the
 * member at fault is omitted, also in a component.
 */
export function withoutDeepValues(scope: Scope, model: Model, row: number, data: Data): Data {
  if (!isDeep(data)) return data;
  const members = Object.entries(data).flatMap(([name, value]) => {
    if (!isDeep(value)) return [[name, value]];
    const kept = shallowComponents(scope, model, name, { row, value });
    if (kept !== undefined) return [[name, kept]];
    const reason = `omitted: the value nests deeper than ${MOST_JSON_LEVELS} levels`;
    scope.notes.add(`${model.uid} ${name}`, reason, `row ${row}`);
    return [];
  });
  return Object.fromEntries(members);
}

/** Returns the components of an attribute without their deep values; undefined if the attribute has none. */
function shallowComponents(
  scope: Scope,
  model: Model,
  name: string,
  { row, value }: { readonly row: number; readonly value: unknown },
): unknown {
  const attribute = model.attributes.get(name);
  if (attribute === undefined || attribute.kind === 'scalar' || attribute.kind === 'relation')
    return undefined;
  const shallow = (component: unknown) => {
    const inner = isRecord(component)
      ? scope.registry.components.get(uidOfComponent(attribute, component))
      : undefined;
    return inner === undefined ? null : withoutDeepValues(scope, inner, row, component as Data);
  };
  return Array.isArray(value) ? value.map(shallow) : shallow(value);
}

/** Returns whether a value nests deeper than a request may. It does not recurse: the value may have any depth. */
function isDeep(value: unknown): boolean {
  let level: readonly object[] = [value].filter(isNested);
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > MOST_JSON_LEVELS) return true;
    level = level.flatMap((each) => Object.values(each).filter(isNested));
  }
  return false;
}

function isNested(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
