import { assertNever } from '../../shared/assert-never.ts';
import type { FieldType } from '../../shared/read-index/bool-query.ts';
import { fieldTypeOf } from '../../shared/read-index/column.ts';
import {
  isOperator,
  OPERATOR_NAMES,
  type OperatorName,
  operatorOf,
  operatorsFor,
} from '../query/operators.ts';
import type { QueryAttribute, QueryModel } from '../query/query-model.ts';
import { anyOfSchemas, closedSchema, listSchema, schemaRef } from './document-parts.ts';
import type { JsonSchema, OpenApiScope } from './openapi-types.ts';
import { nameOf } from './schema-names.ts';

/** Values a condition compares with, by how the column is compared. On the wire all of them are text. */
const VALUES: Record<FieldType, JsonSchema> = {
  keyword: { type: 'string' },
  number: { type: 'number' },
  long: { type: ['string', 'integer'] },
  boolean: { type: 'boolean' },
  'time-of-day': { type: 'string', examples: ['08:30:00'] },
  instant: { type: 'string', examples: ['2026-01-31'] },
  json: { type: 'string', description: 'JSON text.' },
};

const NAMES: Record<FieldType, string> = {
  keyword: 'text',
  number: 'number',
  long: 'biginteger',
  boolean: 'boolean',
  'time-of-day': 'time',
  instant: 'date',
  json: 'json',
};

/** `filter.text`, `filter.number`…: the conditions on an attribute, by its comparison. Made from the operator table. */
export const CONDITION_SCHEMAS: Readonly<Record<string, JsonSchema>> = Object.fromEntries(
  (Object.keys(VALUES) as FieldType[]).map((type) => [`filter.${NAMES[type]}`, conditionSchema(type)]),
);

/** `filters` of a content type or component: the attributes a caller may name, `$and`, `$or`, `$not`. */
export function filtersSchema(scope: OpenApiScope, model: QueryModel): JsonSchema {
  const self = schemaRef(`${nameOf(scope.names, model.uid)}.Filters`);
  const attributes = [...model.attributes.values()];
  return closedSchema({
    ...Object.fromEntries(attributes.map((one) => [one.name, attributeFilter(scope, one)])),
    $and: { ...listSchema(self), description: 'All of them are true.' },
    $or: { ...listSchema(self), description: 'At least one of them is true.' },
    $not: { ...self, description: 'It is false (not: null).' },
  });
}

function attributeFilter(scope: OpenApiScope, attribute: QueryAttribute): JsonSchema {
  switch (attribute.kind) {
    case 'scalar':
      return schemaRef(`filter.${NAMES[fieldTypeOf(attribute.type)]}`);
    case 'relation':
    case 'component':
      return {
        description: 'Some related row; or the row itself, by its numeric id.',
        ...anyOfSchemas(
          schemaRef(`${nameOf(scope.names, attribute.target)}.Filters`),
          schemaRef('filter.number'),
        ),
      };
    case 'zone': {
      const on = attribute.components.map((uid) => [uid, schemaRef(`${nameOf(scope.names, uid)}.Filters`)]);
      return closedSchema({ on: closedSchema(Object.fromEntries(on)) }, ['on']);
    }
    default:
      return assertNever(attribute);
  }
}

function conditionSchema(type: FieldType): JsonSchema {
  const self = schemaRef(`filter.${NAMES[type]}`);
  const known = operatorsFor(type);
  const operators = OPERATOR_NAMES.filter(isOperator).filter((name) => known.includes(name));
  return anyOfSchemas(
    { ...VALUES[type], description: 'Equal (`$eq`).' },
    { type: 'null', description: 'Null.' },
    { ...listSchema(VALUES[type]), description: 'One of these (`$in`).' },
    closedSchema({
      ...Object.fromEntries(operators.map((name) => [name, operandSchema(name, type)])),
      $not: { ...self, description: 'It is false (not: null).' },
    }),
  );
}

function operandSchema(name: OperatorName, type: FieldType): JsonSchema {
  const { operand, list, summary } = operatorOf(name);
  const description = `${summary}.`;
  switch (operand) {
    case 'value':
    case 'text': {
      const value = operand === 'text' ? { type: 'string' } : VALUES[type];
      if (list === 'refused') return { ...value, description };
      return { description, ...anyOfSchemas(value, listSchema(value)) };
    }
    case 'list':
      return { description, ...listSchema(VALUES[type]) };
    case 'pair':
      return { description, ...listSchema(VALUES[type]), minItems: 2, maxItems: 2 };
    case 'flag':
      return { description, type: 'boolean' };
    default:
      return assertNever(operand);
  }
}
