import { assertNever } from '../../shared/assert-never.ts';
import { defined } from '../../shared/defined.ts';
import { fieldTypeOf } from '../../shared/read-index/column.ts';
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
/** Types whose operands Strapi parses; it leaves those of the others to its database. */
const TEMPORAL: ReadonlySet<string> = new Set(['date', 'time', 'datetime']);
const ROW_ID_HINT =
  'a relation is compared with row ids; name an attribute behind it, such as documentId, to compare that';

/** Resolves a parsed filter with a content type; adds problems to `context.problems`. */
export function resolveFilter(
  filter: ParsedFilter,
  model: QueryModel,
  context: FilterContext,
  path = '',
): ResolvedFilter {
  switch (filter.kind) {
    case 'and':
    case 'or':
      return { kind: filter.kind, members: resolveAll(filter.members, model, context, path) };
    case 'not':
      return { kind: 'not', member: resolveFilter(filter.member, model, context, path) };
    case 'attribute':
      return resolveAttribute(filter, model, context, path);
    case 'comparison':
      return refuse(context, {
        at: filter.at,
        message: `Invalid ${filter.operator}: it compares an attribute`,
        found: filter.operand,
      });
    case 'malformed':
      return refuse(context, filter);
    default:
      return assertNever(filter);
  }
}

type AttributeFilter = ParsedFilter & { kind: 'attribute' };

function resolveAll(
  members: readonly ParsedFilter[],
  model: QueryModel,
  context: FilterContext,
  path: string,
): readonly ResolvedFilter[] {
  return members.map((member) => resolveFilter(member, model, context, path));
}

function resolveAttribute(
  filter: AttributeFilter,
  model: QueryModel,
  context: FilterContext,
  path: string,
): ResolvedFilter {
  const attribute = lookUp(model, filter.name, context.scope);
  const here = path === '' ? filter.name : `${path}.${filter.name}`;
  if (attribute === undefined) return unknownName(filter, model, context, { path });
  if (attribute === 'hidden') return unknownName(filter, model, context, { path: here, pass: 'hidden' });
  switch (attribute.kind) {
    case 'scalar': {
      // An id is not an attribute in Strapi: its paths do not have it.
      const place = filter.name === 'id' || filter.name === 'documentId' ? path : here;
      return allMembers(filter.body.map((member) => resolveScalarMember(member, attribute, context, place)));
    }
    case 'relation':
    case 'component':
      return resolveLink(filter, attribute, context, here);
    case 'zone':
      return resolveZone(filter, { zone: attribute, model }, context, here);
    default:
      return assertNever(attribute);
  }
}

/** Resolves one condition on a scalar: a comparison, or comparisons in `$not`. `path` is the position in messages. */
function resolveScalarMember(
  member: ParsedFilter,
  field: QueryScalar,
  context: FilterContext,
  path: string,
): ResolvedFilter {
  switch (member.kind) {
    case 'comparison':
      return resolveComparison(member, field, context, path);
    case 'not':
      return { kind: 'not', member: resolveScalarMember(member.member, field, context, path) };
    case 'attribute':
      return refuseKey(context, { key: member.name, path, at: member.at, accepted: operatorList(field) });
    case 'and':
    case 'or':
      // The inside of `$not`, or a list given to it, has comparisons; `$and`/`$or` of conditions on one attribute do not exist.
      if (member.members.every((inner) => inner.kind !== 'and')) {
        const members = member.members.map((inner) => resolveScalarMember(inner, field, context, path));
        return { kind: member.kind, members };
      }
      return refuse(context, {
        at: member.at,
        message: `Invalid group of conditions at ${path}`,
        found: null,
        accepted: operatorList(field),
      });
    case 'malformed':
      return refuse(context, { ...member, accepted: operatorList(field) });
    default:
      return assertNever(member);
  }
}

/**
 * Resolves conditions on a relation or component: names of attributes behind it, or exactly one operator. The operator is a group, or a
 * comparison with the row id (SEMANTICS section 2). Strapi fails on mixtures, and on `$not` here.
 */
function resolveLink(
  filter: AttributeFilter,
  link: QueryLink,
  context: FilterContext,
  path: string,
): ResolvedFilter {
  const target = queryModelOf(context.scope.registry, link.target);
  const body = resolveLinkBody(filter, target, context, path);
  return { kind: 'some', attribute: link.name, body };
}

function resolveLinkBody(
  filter: AttributeFilter,
  target: QueryModel,
  context: FilterContext,
  path: string,
): ResolvedFilter {
  const operators = filter.body.filter((member) => member.kind !== 'attribute');
  // Names are resolved first, as in Strapi: an unknown name is reported even if something else is wrong too.
  const named = resolveAll(
    filter.body.filter((member) => member.kind === 'attribute'),
    target,
    context,
    path,
  );
  if (operators.length === 0) return allMembers(named);
  const [operator, ...more] = operators as [ParsedFilter, ...ParsedFilter[]];
  const ofRowId = isRowIdCondition(operator);
  if (more.length > 0 || named.length > 0 || (operator.kind === 'not' && !ofRowId)) {
    const accepted = 'attributes of the relation, or one of $and, $or or a comparison with the row id';
    const found = filter.body.map((member) => member.at);
    const message = `Invalid combination of conditions at ${path}`;
    // Reports the unknown names in them, which come first.
    if (!ofRowId) resolveAll(operators, target, context, path);
    return refuse(context, { at: filter.at, message, found, accepted });
  }
  return ofRowId
    ? resolveScalarMember(operator, ROW_ID, context, path)
    : resolveFilter(operator, target, context, path);
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
  { zone, model }: { readonly zone: QueryZone; readonly model: QueryModel },
  context: FilterContext,
  path: string,
): ResolvedFilter {
  const on = filter.body[0];
  if (filter.body.length !== 1 || on?.kind !== 'attribute' || on.name !== 'on') {
    return unknownName(filter, model, context, { path, pass: 'zone' });
  }
  const kinds = on.body.map((member): ResolvedFilter => {
    if (member.kind !== 'attribute' || !zone.components.includes(member.name)) {
      const key = member.kind === 'attribute' ? member.name : 'on';
      return refuseKey(context, { key, path: `${path}.on`, at: member.at, accepted: zone.components });
    }
    const target = queryModelOf(context.scope.registry, member.name);
    const body = resolveLinkBody(member, target, context, `${path}.on.${member.name}`);
    return { kind: 'some', attribute: zone.name, zoneComponent: member.name, body };
  });
  return allMembers(kinds);
}

function resolveComparison(
  comparison: ParsedFilter & { kind: 'comparison' },
  field: QueryScalar,
  context: FilterContext,
  path: string,
): ResolvedFilter {
  const { operator, operand } = comparison;
  // `[$in][0][a]=1`: Strapi looks for an attribute behind the column.
  const inner = isQueryList(operand) ? operand.find(isQueryObject) : undefined;
  const [key] = Object.keys(inner ?? {});
  if (key !== undefined) {
    return refuseKey(context, { key, path, at: comparison.at, accepted: operatorList(field) });
  }
  const { fieldTypes } = operatorOf(operator);
  if (!(fieldTypes as readonly string[]).includes(fieldTypeOf(field.type))) {
    const message = `Invalid operator ${operator} for the ${field.type} attribute ${field.name}`;
    return refuse(context, { at: comparison.at, message, found: operator, accepted: operatorList(field) });
  }
  const compared = context.scope.containsIgnoresCase ? ignoringCase(operator) : operator;
  const resolved = resolveOperands(compared, comparison.operand, field.type);
  if (!resolved.ok) {
    const message = field === ROW_ID ? `${resolved.message}: ${ROW_ID_HINT}` : resolved.message;
    const { found, accepted } = resolved;
    const phase = TEMPORAL.has(field.type) ? 'value' : 'own';
    return refuse(context, { phase, at: comparison.at, message, found, accepted });
  }
  const members = resolved.comparisons.map(
    (operands): ResolvedFilter => ({ kind: 'comparison', field, operator: resolved.operator, operands }),
  );
  return members.length === 1 ? (members[0] as ResolvedFilter) : { kind: 'or', members };
}

function unknownName(
  filter: AttributeFilter,
  model: QueryModel,
  context: FilterContext,
  { path, pass }: Pick<UnknownKey, 'path' | 'pass'>,
): ResolvedFilter {
  const accepted = filter.name.startsWith('$')
    ? OPERATOR_NAMES
    : acceptedNames(model, context.scope, ['scalar', 'relation', 'component']);
  return refuseKey(context, { key: filter.name, path, at: filter.at, accepted, ...defined({ pass }) });
}

type UnknownKey = {
  readonly key: string;
  readonly path: string;
  readonly at: string;
  readonly accepted: readonly string[];
  readonly pass?: 'hidden' | 'zone';
};

function refuseKey({ param, problems }: FilterContext, { key, path, accepted, ...more }: UnknownKey) {
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
