import { assertNever } from '../../../assert-never.ts';
import type { Uid } from '../../../schema/content-type.ts';
import type { BoolQuery } from '../../bool-query.ts';
import {
  type DocumentLayout,
  keyFieldOf,
  type Place,
  type PlacedRelation,
  type PlacedStep,
  pointName,
  uncopiedField,
} from '../layout/document-layout.ts';
import { missingField } from '../layout/find-column.ts';
import { markDsl } from './dsl.ts';
import { planComparison } from './plan-comparison.ts';
import { ALL, allPlanned, impliesPresence, leaf, NONE, type PlannedQuery } from './planned-query.ts';

export type Layouts = (type: Uid) => DocumentLayout;

/** Way in which a plan evaluates one use of a relation or component. */
export type Strategy = {
  /** Attribute names from the row that is searched. */
  readonly path: string;
  readonly strategy: 'object path' | 'nested' | 'link field' | 'semi-join';
  readonly why: string;
};

/** Context of planning: the layouts, and the function that records strategies. */
export type PlanContext = {
  readonly layouts: Layouts;
  /** Type of the documents that are searched. */
  readonly type: Uid;
  readonly path: readonly string[];
  readonly note: (strategy: Strategy) => void;
};

/** Plans a query of the rows of a type. Throws on a field or attribute that the schema does not have. */
export function planQuery(
  layouts: Layouts,
  type: Uid,
  query: BoolQuery,
  note: (s: Strategy) => void = () => {},
): PlannedQuery {
  return planned({ layouts, type, path: [], note }, layouts(type).root, query);
}

/**
 * Plans a query of the components at a node of a type's documents. The plan is relative to the document, without the surrounding `nested`.
 */
export function planAtPlace(layouts: Layouts, place: Place, query: BoolQuery): PlannedQuery {
  return planned({ layouts, type: place.rowSet.type, path: [], note: () => {} }, place, query);
}

function planned(context: PlanContext, place: Place, query: BoolQuery): PlannedQuery {
  const plan = planAt(context, place, query);
  if (plan === undefined)
    throw new Error(`the documents of ${place.rowSet.type} cannot answer ${JSON.stringify(query)}`);
  return plan;
}

/**
 * Plans a query of the rows at a node. Returns undefined if they are copies without all necessary fields. Then the rows' own index is
 * searched.
 */
function planAt(context: PlanContext, place: Place, query: BoolQuery): PlannedQuery | undefined {
  switch (query.kind) {
    case 'match_all':
      return ALL;
    case 'match_none':
      return NONE;
    case 'term':
    case 'terms':
    case 'range':
    case 'exists':
    case 'text': {
      const scalar = place.scalars.get(query.field);
      if (scalar !== undefined) return planComparison(place, scalar, query);
      return missingField(place, query.field);
    }
    case 'area':
      return planArea(place, query);
    case 'some':
      return planSome(context, place, query.attribute, query.query);
    case 'some_in_zone':
      return planZone(context, place, query);
    case 'bool':
      return planBool(context, place, query);
    default:
      return assertNever(query);
  }
}

/** Only the rows' own documents have points. */
function planArea(place: Place, { columns, circle }: Extract<BoolQuery, { kind: 'area' }>) {
  if (place.kind !== 'root') return missingField(place, pointName(columns));
  const { lat, lng: lon } = circle.center;
  return leaf({ geo_distance: { distance: `${circle.meters}m`, [`p.${pointName(columns)}`]: { lat, lon } } });
}

function planBool(
  context: PlanContext,
  place: Place,
  query: Extract<BoolQuery, { kind: 'bool' }>,
): PlannedQuery | undefined {
  const planAll = (parts: readonly BoolQuery[]) => {
    const plans: PlannedQuery[] = [];
    for (const part of parts) {
      const plan = planAt(context, place, part);
      if (plan === undefined) return undefined;
      plans.push(plan);
    }
    return plans;
  };
  const filter = planAll(query.filter ?? []);
  const should = planAll(query.should ?? []);
  const mustNot = planAll(query.must_not ?? []);
  if (filter === undefined || should === undefined || mustNot === undefined) return undefined;
  return allPlanned(filter, query.should === undefined ? undefined : should, mustNot);
}

type ZoneQuery = Extract<BoolQuery, { kind: 'some_in_zone' }>;

function planZone(context: PlanContext, place: Place, query: ZoneQuery): PlannedQuery | undefined {
  const step = place.steps.get(query.attribute);
  if (step?.kind !== 'zone') return missingField(place, query.attribute);
  const kindPlace = step.components.get(query.component);
  if (kindPlace === undefined) return missingField(place, `${query.attribute} ${query.component}`);
  const inside = within(context, query.attribute);
  const plan = planAt(inside, kindPlace, query.query);
  if (plan === undefined) return undefined;
  noteStrategy(inside, 'nested', 'a dynamic zone is a list in the document');
  return nested(step.objectField, ofItem(kindPlace, plan));
}

function planSome(
  context: PlanContext,
  place: Place,
  attribute: string,
  query: BoolQuery,
): PlannedQuery | undefined {
  const step = place.steps.get(attribute);
  if (step === undefined || step.kind === 'zone') return missingField(place, attribute);
  const inside = within(context, attribute);
  return step.kind === 'component'
    ? planComponents(inside, step, query)
    : planRelation(inside, place, step, query);
}

function planComponents(
  inside: PlanContext,
  step: Extract<PlacedStep, { kind: 'component' }>,
  query: BoolQuery,
): PlannedQuery | undefined {
  const plan = planAt(inside, step.place, query);
  if (plan === undefined) return undefined;
  if (step.list) {
    noteStrategy(inside, 'nested', 'a repeatable component is a list in the document');
    return nested(step.objectField, ofItem(step.place, plan));
  }
  noteStrategy(inside, 'object path', 'a single component is part of the document');
  return present(keyFieldOf(step.place), plan);
}

function planRelation(
  inside: PlanContext,
  place: Place,
  step: PlacedRelation,
  query: BoolQuery,
): PlannedQuery {
  const { embedded, linkField } = step;
  // Strategies of an abandoned plan are not recorded.
  const notes: Strategy[] = [];
  const copy = { ...inside, note: (strategy: Strategy) => notes.push(strategy) };
  const plan = embedded === undefined ? undefined : planAt(copy, embedded.place, query);
  if (embedded !== undefined && plan !== undefined) {
    const strategy = embedded.list ? 'nested' : 'object path';
    noteStrategy(inside, strategy, 'the linked rows are copied into the document');
    for (const each of notes) inside.note(each);
    if (!embedded.list) return present(`${embedded.place.prefix}key`, plan);
    const others = planUncopied({ ...inside, note: () => {} }, place, step, query);
    return { kind: 'copies', type: inside.type, copies: nested(embedded.objectField, plan), others };
  }
  if (query.kind === 'match_none') return NONE;
  if (query.kind === 'match_all' && linkField !== undefined) {
    noteStrategy(inside, 'link field', 'the links show whether anything is linked');
    return leaf({ exists: { field: linkField } });
  }
  const why =
    embedded === undefined
      ? 'the relation is not copied into the document'
      : 'the copies in the document lack the compared field';
  noteStrategy(inside, 'semi-join', why);
  return semiJoin(inside, place, step, query);
}

/** Plans a query of the documents that have too many links at a node to copy the linked rows. */
function planUncopied(
  inside: PlanContext,
  place: Place,
  step: PlacedRelation,
  query: BoolQuery,
): PlannedQuery {
  const isUncopied = leaf({ term: { [uncopiedField(place)]: { value: step.attribute } } });
  if (query.kind === 'match_none') return NONE;
  if (query.kind === 'match_all') return isUncopied;
  return allPlanned([isUncopied, semiJoin(inside, place, step, query)]);
}

function semiJoin(inside: PlanContext, place: Place, step: PlacedRelation, query: BoolQuery): PlannedQuery {
  const target = { ...inside, type: step.target };
  const plan = planned(target, inside.layouts(step.target).root, query);
  if (plan.kind === 'none') return NONE;
  if (step.linkField !== undefined) {
    const join = { type: step.target, query: plan, select: 'key', into: step.linkField };
    return { kind: 'semi_join', join };
  }
  const select = `t.${step.mappedBy}`;
  // Rows without links have no value in this field anyway. The condition keeps the result small.
  const linked = allPlanned([leaf({ exists: { field: select } }), plan]);
  const join = { type: step.target, query: linked, select, into: `${place.prefix}key` };
  return { kind: 'semi_join', join };
}

function nested(path: string, query: PlannedQuery): PlannedQuery {
  return query.kind === 'none' ? NONE : { kind: 'nested', path, query };
}

/** Requires that an item of a shared list has the node's fields. */
function ofItem({ item }: Place, query: PlannedQuery): PlannedQuery {
  return item === undefined ? query : allPlanned([leaf(markDsl(item)), query]);
}

/** Requires that the row or component at an object path exists and matches. */
function present(keyField: string, query: PlannedQuery): PlannedQuery {
  if (query.kind === 'none' || impliesPresence(query)) return query;
  return allPlanned([leaf({ exists: { field: keyField } }), query]);
}

function within(context: PlanContext, attribute: string): PlanContext {
  return { ...context, path: [...context.path, attribute] };
}

function noteStrategy(context: PlanContext, strategy: Strategy['strategy'], why: string): void {
  context.note({ path: context.path.join('.'), strategy, why });
}
