import { isRecord } from '../../shared/json-record.ts';
import { plainText } from '../../shared/plain-text.ts';
import type { RequestError } from '../../shared/request-error.ts';
import type { Attribute, Model, RelationAttribute } from '../../shared/schema/content-type.ts';
import { componentOf, type SchemaRegistry } from '../../shared/schema/schema-registry.ts';
import type { Data } from './parse-data.ts';
import { validationError } from './problem.ts';
import type { RelationScope } from './relation-scope.ts';
import { documentIdIn, placeOf, referencesIn, resolveReference, targetsOf } from './resolve-reference.ts';

/** Creates a 400 for the first document in `data` that does not exist, in the order of the body; undefined if all exist. */
export function unknownDocumentError(
  scope: RelationScope,
  type: Model,
  data: Data,
): RequestError | undefined {
  const again: RelationScope = { ...scope, unknown: [], references: new Map(), late: [] };
  for (const { attribute, reference } of referencesOf(scope.registry, type, data)) {
    if (documentIdIn(reference) === undefined) continue;
    resolveReference(again, attribute, reference, 'may-be-missing');
    placeOf(again, attribute, reference);
    const [first] = again.unknown;
    if (first === undefined) continue;
    return validationError(`Document with id "${first.documentId}", locale "${first.locale}" not found`);
  }
  return undefined;
}

type Found = { readonly attribute: RelationAttribute; readonly reference: unknown };

function referencesOf(registry: SchemaRegistry, model: Model, data: Data): Found[] {
  return Object.entries(data).flatMap(([name, value]) => {
    const attribute = model.attributes.get(name);
    return attribute === undefined ? [] : referencesOfAttribute(registry, attribute, value);
  });
}

function referencesOfAttribute(registry: SchemaRegistry, attribute: Attribute, value: unknown): Found[] {
  switch (attribute.kind) {
    case 'scalar':
      return [];
    case 'relation':
      return inOrder(attribute, value).map((reference) => ({ attribute, reference }));
    case 'component':
    case 'dynamiczone':
      return [value].flat().flatMap((item) => {
        if (!isRecord(item)) return [];
        const uid = attribute.kind === 'component' ? attribute.component : plainText(item['__component']);
        return registry.components.has(uid) ? referencesOf(registry, componentOf(registry, uid), item) : [];
      });
  }
}

/** The order in which Strapi looks references up. */
function inOrder(attribute: RelationAttribute, value: unknown): unknown[] {
  if (!isRecord(value) || 'id' in value || 'documentId' in value) return targetsOf(attribute, value);
  const { set, disconnect, connect } = value;
  return [...targetsOf(attribute, set), ...referencesIn(disconnect), ...referencesIn(connect)];
}
