import { assertNever } from '../../shared/assert-never.ts';
import { defined } from '../../shared/defined.ts';
import { fieldTypeOf } from '../../shared/read-index/column.ts';
import type { GeoColumns } from '../../shared/schema/search-geo.ts';
import { GEO_OPERATOR_NAMES, geoOperator } from './geo-operators.ts';
import { ignoringCase, OPERATOR_NAMES, operatorOf, operatorsFor } from './operators.ts';
import type { ParsedFilter } from './parse-filter.ts';
import { invalidKey, type Problems, type QueryProblem } from './problems.ts';
import {
  acceptedNames,
  lookUp,
  type QueryLink,
  type QueryModel,
  type QueryScalar,
  type QueryScope,
  type QueryZone,
  queryModelOf,
} from './query-model.ts';
import { isQueryList, isQueryObject } from './query-string.ts';
import { resolveOperands } from './resolve-operands.ts';
import type { ResolvedFilter } from './resolved-filter.ts';

/** Schema and caller, and the list of problems. `param` is the root parameter. */
export type FilterContext = {
  readonly scope: QueryScope;
  readonly param: string;
  readonly problems: Problems;
};

const EVERYTHING: ResolvedFilter = { kind: 'and', members: [] };
const ROW_ID: QueryScalar = {
  kind: 'scalar',
  name: 'id',
  type: 'integer',
  neverNull: true,
  searchable: true,
};
/** Types whose operands Strapi parses itself. Its database parses the operands of other types. */
const TEMPORAL: ReadonlySet<string> = new Set(['date', 'time', 'datetime']);
const ROW_ID_HINT =
  'a relation is compared with row ids; name an attribute behind it, such as documentId, to compare that';

/** Position of a part of the filter. `path` names the attributes from the root to here. */
type Position = FilterContext & { readonly path: string };

/** Resolves a parsed filter with a content type; adds problems to `context.problems`. */
export function resolveFilter(
  filter: ParsedFilter,
  model: QueryModel,
  context: FilterContext,
): ResolvedFilter {
  return resolvePart(filter, model, { ...context, path: '' });
}

function resolvePart(filter: ParsedFilter, model: QueryModel, at: Position): ResolvedFilter {
  switch (filter.kind) {
    case 'and':
    case 'or':
      return { kind: filter.kind, members: resolveAll(filter.members, model, at) };
    case 'not':
      return { kind: 'not', member: resolvePart(filter.member, model, at) };
    case 'attribute':
      return resolveAttribute(filter, model, at);
    case 'comparison':
      return refuse(at, {
        at: filter.at,
        message: `Invalid ${filter.operator}: it compares an attribute`,
        found: filter.operand,
      });
    case 'malformed':
      return refuse(at, filter);
    default:
      return assertNever(filter);
  }
}

type AttributeFilter = ParsedFilter & { kind: 'attribute' };

function resolveAll(members: readonly ParsedFilter[], model: QueryModel, at: Position) {
  return members.map((member) => resolvePart(member, model, at));
}

function resolveAttribute(filter: AttributeFilter, model: QueryModel, at: Position): ResolvedFilter {
  const here = { ...at, path: at.path === '' ? filter.name : `${at.path}.${filter.name}` };
  const columns = model.geo.get(filter.name);
  if (columns !== undefined) return allMembers(filter.body.map((each) => resolveGeo(each, columns, here)));
  const attribute = lookUp(model, filter.name, at.scope);
  if (attribute === undefined) return unknownName(filter, model, at);
  if (attribute === 'hidden') return unknownName(filter, model, here, 'hidden');
  switch (attribute.kind) {
    case 'scalar': {
      // An id is not an attribute in Strapi: its paths do not have it.
      const place = filter.name === 'id' || filter.name === 'documentId' ? at : here;
      return allMembers(filter.body.map((member) => resolveScalarMember(member, attribute, place)));
    }
    case 'relation':
    case 'component':
      return resolveLink(filter, attribute, here);
    case 'zone':
      return resolveZone(filter, attribute, model, here);
    default:
      return assertNever(attribute);
  }
}

/** Resolves one condition on the point of an entry. */
function resolveGeo(member: ParsedFilter, columns: GeoColumns, at: Position): ResolvedFilter {
  if (member.kind === 'malformed') return refuse(at, { ...member, accepted: GEO_OPERATOR_NAMES });
  const operator = member.kind === 'attribute' ? geoOperator(member.name) : undefined;
  if (member.kind !== 'attribute' || operator === undefined) {
    const key = member.kind === 'attribute' ? member.name : operatorIn(member);
    return refuseKey(at, { key, at: member.at, accepted: GEO_OPERATOR_NAMES });
  }
  const [value, ...others] = member.body;
  const isAlone = value?.kind === 'comparison' && value.at === member.at && others.length === 0;
  const operand = isAlone ? value.operand : null;
  const area = typeof operand === 'string' ? operator.read(operand) : undefined;
  if (area !== undefined) return { kind: 'geo', columns, area };
  const message = `Invalid operand of ${member.name}`;
  return refuse(at, { at: member.at, message, found: operand, accepted: operator.accepted });
}

function operatorIn(member: Exclude<ParsedFilter, { kind: 'attribute' | 'malformed' }>): string {
  return member.kind === 'comparison' ? member.operator : `$${member.kind}`;
}

/** Resolves one condition on a scalar: a comparison, or comparisons in `$not`. */
function resolveScalarMember(member: ParsedFilter, field: QueryScalar, at: Position): ResolvedFilter {
  switch (member.kind) {
    case 'comparison':
      return resolveComparison(member, field, at);
    case 'not':
      return { kind: 'not', member: resolveScalarMember(member.member, field, at) };
    case 'attribute':
      return refuseKey(at, { key: member.name, at: member.at, accepted: operatorList(field) });
    case 'and':
    case 'or':
      // The inside of `$not`, or a list given to it, has comparisons; `$and`/`$or` of conditions on one attribute do not exist.
      if (member.members.every((inner) => inner.kind !== 'and')) {
        const members = member.members.map((inner) => resolveScalarMember(inner, field, at));
        return { kind: member.kind, members };
      }
      return refuse(at, {
        at: member.at,
        message: `Invalid group of conditions at ${at.path}`,
        found: null,
        accepted: operatorList(field),
      });
    case 'malformed':
      return refuse(at, { ...member, accepted: operatorList(field) });
    default:
      return assertNever(member);
  }
}

/**
 * Resolves conditions on a relation or component: names of attributes behind it, or exactly one operator. The operator is a group, or a
 * comparison with the row id (SEMANTICS section 2). Strapi fails on mixtures, and on `$not` here.
 */
function resolveLink(filter: AttributeFilter, { name, target }: QueryLink, at: Position): ResolvedFilter {
  const body = resolveLinkBody(filter, queryModelOf(at.scope.registry, target), at);
  return { kind: 'some', attribute: name, body };
}

function resolveLinkBody(filter: AttributeFilter, target: QueryModel, at: Position): ResolvedFilter {
  const operators = filter.body.filter((member) => member.kind !== 'attribute');
  // Names are resolved first, as in Strapi: an unknown name is reported even if something else is wrong too.
  const named = resolveAll(
    filter.body.filter((member) => member.kind === 'attribute'),
    target,
    at,
  );
  if (operators.length === 0) return allMembers(named);
  const [operator, ...more] = operators as [ParsedFilter, ...ParsedFilter[]];
  const ofRowId = isRowIdCondition(operator);
  if (more.length > 0 || named.length > 0 || (operator.kind === 'not' && !ofRowId)) {
    const accepted = 'attributes of the relation, or one of $and, $or or a comparison with the row id';
    const found = filter.body.map((member) => member.at);
    const message = `Invalid combination of conditions at ${at.path}`;
    // Reports the unknown names in them, which come first.
    if (!ofRowId) resolveAll(operators, target, at);
    return refuse(at, { at: filter.at, message, found, accepted });
  }
  return ofRowId ? resolveScalarMember(operator, ROW_ID, at) : resolvePart(operator, target, at);
}

/** Returns whether a filter compares the relation itself: `[$in]`, `[$null]`, `[$not]=id`, `[$not][]=id`, but not `[$not][$eq]=id`. */
function isRowIdCondition(filter: ParsedFilter): boolean {
  if (filter.kind === 'not') return filter.member.kind === 'comparison';
  if (filter.kind !== 'or') return filter.kind === 'comparison';
  return filter.members.every((member) => member.kind === 'not' && isRowIdCondition(member));
}

/** Resolves `filters[zone][on][blocks.hero][title]=x`: some component of that kind in the zone. Refuses all other forms, as Strapi does. */
function resolveZone(
  filter: AttributeFilter,
  zone: QueryZone,
  model: QueryModel,
  at: Position,
): ResolvedFilter {
  const on = filter.body[0];
  if (filter.body.length !== 1 || on?.kind !== 'attribute' || on.name !== 'on') {
    return unknownName(filter, model, at, 'zone');
  }
  const path = `${at.path}.on`;
  const kinds = on.body.map((member): ResolvedFilter => {
    if (member.kind !== 'attribute' || !zone.components.includes(member.name)) {
      const key = member.kind === 'attribute' ? member.name : 'on';
      return refuseKey({ ...at, path }, { key, at: member.at, accepted: zone.components });
    }
    const target = queryModelOf(at.scope.registry, member.name);
    const body = resolveLinkBody(member, target, { ...at, path: `${path}.${member.name}` });
    return { kind: 'some', attribute: zone.name, zoneComponent: member.name, body };
  });
  return allMembers(kinds);
}

function resolveComparison(
  comparison: ParsedFilter & { kind: 'comparison' },
  field: QueryScalar,
  at: Position,
): ResolvedFilter {
  const { operator, operand } = comparison;
  // `[$in][0][a]=1`: Strapi looks for an attribute behind the column.
  const inner = isQueryList(operand) ? operand.find(isQueryObject) : undefined;
  const [key] = Object.keys(inner ?? {});
  if (key !== undefined) {
    return refuseKey(at, { key, at: comparison.at, accepted: operatorList(field) });
  }
  const { fieldTypes } = operatorOf(operator);
  if (!(fieldTypes as readonly string[]).includes(fieldTypeOf(field.type))) {
    const message = `Invalid operator ${operator} for the ${field.type} attribute ${field.name}`;
    return refuse(at, { at: comparison.at, message, found: operator, accepted: operatorList(field) });
  }
  const compared = at.scope.containsIgnoresCase ? ignoringCase(operator) : operator;
  const resolved = resolveOperands(compared, comparison.operand, field.type);
  if (!resolved.ok) {
    const message = field === ROW_ID ? `${resolved.message}: ${ROW_ID_HINT}` : resolved.message;
    const { found, accepted } = resolved;
    const phase = TEMPORAL.has(field.type) ? 'value' : 'own';
    return refuse(at, { phase, at: comparison.at, message, found, accepted });
  }
  const members = resolved.comparisons.map(
    (operands): ResolvedFilter => ({ kind: 'comparison', field, operator: resolved.operator, operands }),
  );
  return members.length === 1 ? (members[0] as ResolvedFilter) : { kind: 'or', members };
}

function unknownName(
  filter: AttributeFilter,
  model: QueryModel,
  at: Position,
  pass?: UnknownKey['pass'],
): ResolvedFilter {
  const accepted = filter.name.startsWith('$')
    ? OPERATOR_NAMES
    : [...acceptedNames(model, at.scope, ['scalar', 'relation', 'component']), ...model.geo.keys()];
  return refuseKey(at, { key: filter.name, at: filter.at, accepted, ...defined({ pass }) });
}

type UnknownKey = {
  readonly key: string;
  readonly at: string;
  readonly accepted: readonly string[];
  readonly pass?: 'hidden' | 'zone';
};

function refuseKey({ param, problems, path }: Position, { key, accepted, ...more }: UnknownKey) {
  problems.push({ ...invalidKey(key, path, param, accepted), ...more });
  return EVERYTHING;
}

type Refusal = Pick<QueryProblem, 'message' | 'found'> & {
  readonly phase?: 'value' | 'own';
  readonly at: string;
  readonly accepted?: unknown;
};

function refuse(
  context: FilterContext,
  { phase = 'own', at, message, found, accepted = 'conditions on attributes' }: Refusal,
): ResolvedFilter {
  context.problems.push({ phase, message, param: context.param, at, found, accepted });
  return EVERYTHING;
}

function allMembers(members: readonly ResolvedFilter[]): ResolvedFilter {
  return members.length === 1 ? (members[0] as ResolvedFilter) : { kind: 'and', members };
}

function operatorList(field: QueryScalar): readonly string[] {
  return operatorsFor(fieldTypeOf(field.type));
}
