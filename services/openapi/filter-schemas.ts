import { assertNever } from '../../shared/assert-never.ts';
import type { FieldType } from '../../shared/read-index/bool-query.ts';
import { fieldTypeOf } from '../../shared/read-index/column.ts';
import { GEO_OPERATOR_NAMES, geoOperator } from '../query/geo-operators.ts';
import { isOperator, type OperatorName, operatorOf, operatorsFor } from '../query/operators.ts';
import type { QueryAttribute, QueryModel } from '../query/query-model.ts';
import {
  anyOfSchemas,
  closedSchema,
  listSchema,
  modelRef,
  schemaRef,
  TEXT_SCHEMA,
} from './document-parts.ts';
import type { JsonSchema, OpenApiScope } from './openapi-types.ts';

/** Name and values of the conditions on an attribute, by how its column is compared. On the wire all values are text. */
const CONDITIONS: Record<FieldType, { readonly name: string; readonly value: JsonSchema }> = {
  keyword: { name: 'text', value: TEXT_SCHEMA },
  number: { name: 'number', value: { type: 'number' } },
  long: { name: 'biginteger', value: { type: ['string', 'integer'] } },
  boolean: { name: 'boolean', value: { type: 'boolean' } },
  'time-of-day': { name: 'time', value: { type: 'string', examples: ['08:30:00'] } },
  instant: { name: 'date', value: { type: 'string', examples: ['2026-01-31'] } },
  json: { name: 'json', value: { type: 'string', description: 'JSON text.' } },
};

/** `filter.text`, `filter.number`…: the conditions on an attribute, by its comparison. Made from the operator table. */
export const CONDITION_SCHEMAS: Readonly<Record<string, JsonSchema>> = Object.fromEntries(
  (Object.keys(CONDITIONS) as FieldType[]).map((type) => [conditionName(type), conditionSchema(type)]),
);

/** `filters` of a content type or component: the attributes a caller may name, `$and`, `$or`, `$not`. */
export function filtersSchema(scope: OpenApiScope, model: QueryModel): JsonSchema {
  const self = modelRef(scope, model.uid, 'Filters');
  const attributes = [...model.attributes.values()];
  return closedSchema({
    ...Object.fromEntries(attributes.map((one) => [one.name, attributeFilter(scope, one)])),
    ...Object.fromEntries([...model.geo.keys()].map((name) => [name, geoFilter()])),
    $and: { ...listSchema(self), description: 'All of them are true.' },
    $or: { ...listSchema(self), description: 'At least one of them is true.' },
    $not: { ...self, description: 'It is false (not: null).' },
  });
}

function attributeFilter(scope: OpenApiScope, attribute: QueryAttribute): JsonSchema {
  switch (attribute.kind) {
    case 'scalar':
      return schemaRef(conditionName(fieldTypeOf(attribute.type)));
    case 'relation':
    case 'component':
      return {
        description: 'Some related row; or the row itself, by its numeric id.',
        ...anyOfSchemas(modelRef(scope, attribute.target, 'Filters'), schemaRef('filter.number')),
      };
    case 'zone': {
      const on = attribute.components.map((uid) => [uid, modelRef(scope, uid, 'Filters')]);
      return closedSchema({ on: closedSchema(Object.fromEntries(on)) }, ['on']);
    }
    default:
      return assertNever(attribute);
  }
}

/** Conditions on the point of an entry. */
function geoFilter(): JsonSchema {
  const operators = GEO_OPERATOR_NAMES.map((name) => [
    name,
    { ...TEXT_SCHEMA, description: geoOperator(name)?.accepted },
  ]);
  return closedSchema(Object.fromEntries(operators));
}

function conditionName(type: FieldType): string {
  return `filter.${CONDITIONS[type].name}`;
}

function conditionSchema(type: FieldType): JsonSchema {
  const self = schemaRef(conditionName(type));
  const { value } = CONDITIONS[type];
  const operators = operatorsFor(type).filter(isOperator);
  return anyOfSchemas(
    { ...value, description: 'Equal (`$eq`).' },
    { type: 'null', description: 'Null.' },
    { ...listSchema(value), description: 'One of these (`$in`).' },
    closedSchema({
      ...Object.fromEntries(operators.map((name) => [name, operandSchema(name, value)])),
      $not: { ...self, description: 'It is false (not: null).' },
    }),
  );
}

function operandSchema(name: OperatorName, value: JsonSchema): JsonSchema {
  const { operand, summary } = operatorOf(name);
  const description = `${summary}.`;
  switch (operand) {
    case 'value':
      return { description, ...anyOfSchemas(value, listSchema(value)) };
    case 'text':
      return { description, ...anyOfSchemas(TEXT_SCHEMA, listSchema(TEXT_SCHEMA)) };
    case 'list':
      return { description, ...listSchema(value) };
    case 'pair':
      return { description, ...listSchema(value), minItems: 2, maxItems: 2 };
    case 'flag':
      return { description, type: 'boolean' };
    default:
      return assertNever(operand);
  }
}
