import { assertNever } from '../../shared/assert-never.ts';
import type { BoolQuery } from '../../shared/read-index/bool-query.ts';
import type { SortKey } from '../../shared/read-index/read-index.ts';
import type { Attribute, Model, Uid } from '../../shared/schema/content-type.ts';
import {
  componentOf,
  contentTypeOf,
  relationSide,
  type SchemaRegistry,
} from '../../shared/schema/schema-registry.ts';
import type { GeoColumns } from '../../shared/schema/search-geo.ts';
import { isContentType, localizationsAttribute } from '../../shared/schema/system-attributes.ts';
import { ROWS } from './tag.ts';

/** Called for each attribute that a query reads. `isRoot`: the attribute is one of the searched rows, not of linked rows. */
export type Mention = (type: Uid, attribute: string, isRoot: boolean) => void;

/** Rows of a content type, or components at an attribute of it. */
export type QueryPlace = {
  readonly registry: SchemaRegistry;
  readonly model: Model;
  readonly type: Uid;
  /** The content type's attribute with the components; undefined: the rows themselves. */
  readonly attribute: string | undefined;
  readonly isRoot: boolean;
};

/** Returns the place of the searched rows. */
export function rootPlace(registry: SchemaRegistry, type: Uid): QueryPlace {
  return { registry, model: contentTypeOf(registry, type), type, attribute: undefined, isRoot: true };
}

/** Mentions every attribute that a query compares or traverses, except those in one part of the query. */
export function mentionQuery(
  place: QueryPlace,
  query: BoolQuery,
  mention: Mention,
  omitted?: BoolQuery,
): void {
  if (query === omitted) return;
  switch (query.kind) {
    case 'match_all':
    case 'match_none':
      return;
    case 'term':
    case 'terms':
    case 'range':
    case 'exists':
    case 'text':
      mentionField(place, query.field, mention);
      return;
    case 'area':
      mentionColumns(place, query.columns, mention);
      return;
    case 'some':
      mentionQuery(stepInto(place, query.attribute, mention), query.query, mention);
      return;
    case 'some_in_zone':
      mentionQuery(stepIntoZone(place, query.attribute, query.component, mention), query.query, mention);
      return;
    case 'bool':
      for (const part of [query.filter, query.should, query.must_not]) {
        for (const one of part ?? []) mentionQuery(place, one, mention, omitted);
      }
      return;
    default:
      assertNever(query);
  }
}

/** Mentions the attributes of an order. Its last key is always the id. */
export function mentionSort(place: QueryPlace, sort: readonly SortKey[], mention: Mention): void {
  mentionField(place, 'id', mention);
  mentionKeys(place, sort, mention);
}

/** Mentions the attributes of sort keys, without the id that comes last. */
export function mentionKeys(place: QueryPlace, sort: readonly SortKey[], mention: Mention): void {
  for (const key of sort) {
    if ('nearest' in key) mentionColumns(place, key.nearest.columns, mention);
    else mentionPath(place, key.path, key.field, mention);
  }
}

/** Mentions the attributes of a path and the field at its end. */
export function mentionPath(
  place: QueryPlace,
  path: readonly string[],
  field: string,
  mention: Mention,
): void {
  let reached = place;
  for (const attribute of path) reached = stepInto(reached, attribute, mention);
  mentionField(reached, field, mention);
}

function mentionField({ type, attribute, isRoot }: QueryPlace, field: string, mention: Mention): void {
  mention(type, attribute ?? field, isRoot);
}

function mentionColumns(place: QueryPlace, { lat, lng }: GeoColumns, mention: Mention): void {
  mentionField(place, lat, mention);
  mentionField(place, lng, mention);
}

/** Returns the place behind a component or a relation, and mentions the attributes of this step. Throws for other attributes. */
export function stepInto(place: QueryPlace, name: string, mention: Mention): QueryPlace {
  const { registry, model, type, isRoot } = place;
  const attribute = attributeOf(model, name);
  if (attribute?.kind === 'component') {
    const inside = place.attribute ?? name;
    mention(type, inside, isRoot);
    return { ...place, model: componentOf(registry, attribute.component), attribute: inside };
  }
  if (attribute?.kind !== 'relation') throw new Error(`${model.uid} has no relation ${name}`);
  const { target } = attribute;
  if (place.attribute !== undefined) mention(type, place.attribute, isRoot);
  else {
    const { ownerType, ownerAttribute, side } = relationSide(type, attribute);
    mention(ownerType, ownerAttribute, isRoot && side === 'owner');
  }
  // A row that disappears removes its links, and so changes the result.
  mention(target, ROWS, false);
  return {
    registry,
    model: contentTypeOf(registry, target),
    type: target,
    attribute: undefined,
    isRoot: false,
  };
}

/** Returns the place of the components of one kind in a dynamic zone, and mentions the zone. */
export function stepIntoZone(place: QueryPlace, name: string, component: Uid, mention: Mention): QueryPlace {
  const inside = place.attribute ?? name;
  mention(place.type, inside, place.isRoot);
  return { ...place, model: componentOf(place.registry, component), attribute: inside };
}

function attributeOf(model: Model, name: string): Attribute | undefined {
  const own = model.attributes.get(name);
  if (own !== undefined || name !== 'localizations' || !isContentType(model)) return own;
  return localizationsAttribute(model);
}
