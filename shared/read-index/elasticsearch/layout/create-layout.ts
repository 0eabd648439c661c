import {
  type Attribute,
  type ComponentAttribute,
  type DynamicZoneAttribute,
  FILE_TYPE,
  type Model,
  type RelationAttribute,
  type Uid,
} from '../../../schema/content-type.ts';
import { usesOf } from '../../../schema/scalar-uses.ts';
import {
  componentOf,
  contentTypeOf,
  isReachable,
  type SchemaRegistry,
} from '../../../schema/schema-registry.ts';
import { geoColumns } from '../../../schema/search-geo.ts';
import {
  isContentType,
  localizationsAttribute,
  queryableScalars,
} from '../../../schema/system-attributes.ts';
import { searchOf } from '../../../search/search-settings.ts';
import { DOCUMENT_PUBLISHED_FIELD, type FieldType, PUBLICATION_STATE_FIELD } from '../../bool-query.ts';
import { fieldTypeOf } from '../../column.ts';
import type { ComponentStep, RowSet } from '../../read-index.ts';
import {
  copiedKeyField,
  type DenormaliseSettings,
  type DocumentLayout,
  MOST_COPIES,
  memberOf,
  type Place,
  type PlacedRelation,
  type PlacedScalar,
  type PlacedStep,
  pointName,
  type SharedItem,
} from './document-layout.ts';
import { createSlots, type Slots } from './slots.ts';
import { sortPaths } from './sort-paths.ts';

/** Surroundings of a node, which decide how much is copied there. */
type Surroundings = {
  readonly registry: SchemaRegistry;
  readonly settings: DenormaliseSettings;
  /** Number of relations between the root and the node. */
  readonly hops: number;
  /** True if one of these relations is to-many. */
  readonly inList: boolean;
  /** Names on the path from the root. */
  readonly path: readonly string[];
  /** Content types of the rows on the path, from the root to the node. */
  readonly types: readonly Uid[];
  /** Names of fields, in an item of a shared list. */
  readonly slots?: Slots;
};

type Address = Pick<Place, 'prefix' | 'model' | 'rowSet' | 'kind' | 'item'>;

/** Returns the layout of a type's documents. Pure: it depends only on the schema and the settings. */
export function createLayout(
  registry: SchemaRegistry,
  type: Uid,
  settings: DenormaliseSettings,
  mostCopies = MOST_COPIES,
): DocumentLayout {
  const model = contentTypeOf(registry, type);
  const words = searchOf(registry, type);
  // Documents get the words of related rows from copies of these rows.
  const paths = [...settings.paths, ...words.fields.map(({ path }) => path.join('.')).filter(Boolean)];
  const around: Surroundings = {
    registry,
    settings: { ...settings, paths },
    hops: 0,
    inList: false,
    path: [],
    types: [type],
  };
  const root = createPlace(around, { prefix: '', model, rowSet: { type, path: [] }, kind: 'root' });
  const columns = new Map([...geoColumns(model).values()].map((each) => [pointName(each), each]));
  const points = [...columns.values()];
  return { type, root, sortPaths: sortPaths(root, [], false), words, points, mostCopies };
}

function createPlace(around: Surroundings, address: Address): Place {
  const { model, kind } = address;
  // Columns come first, because `id` is the first of them in every component.
  const scalars = placedScalars(around, address);
  const steps = new Map<string, PlacedStep>();
  for (const attribute of stepAttributes(model)) {
    const step = createStep(around, address, attribute);
    if (step !== undefined) steps.set(attribute.name, step);
  }
  if (kind === 'embedded') omitUncopied(scalars, around, model);
  return { ...address, scalars, steps };
}

function stepAttributes(model: Model): readonly Attribute[] {
  const localizations = isContentType(model) ? localizationsAttribute(model) : undefined;
  const own = [...model.attributes.values()].filter(({ kind }) => kind !== 'scalar');
  return localizations === undefined ? own : [...own, localizations];
}

/**
 * Removes the columns that copies do not have, unless the settings name them: long texts, and what each publication changes. Otherwise
 * every change of a row would change all documents that copy it.
 */
function omitUncopied(scalars: Map<string, PlacedScalar>, { settings, path }: Surroundings, model: Model) {
  for (const { name, type } of [...scalars.values()]) {
    if (!isChangedByAll(model, name) && !usesOf(type).isLong) continue;
    if (!isNamed(settings, [...path, name])) scalars.delete(name);
  }
}

/** Returns whether each edit or publication of a row changes a column. */
function isChangedByAll(model: Model, name: string): boolean {
  if (!isContentType(model)) return false;
  // A publication gives a row a new id.
  return name === 'updatedAt' || name === 'publishedAt' || (name === 'id' && model.draftAndPublish);
}

function placedScalars({ hops, slots }: Surroundings, { model, kind }: Address): Map<string, PlacedScalar> {
  const scalars = new Map<string, PlacedScalar>();
  const add = (scalar: Omit<PlacedScalar, 'field' | 'member'>) => {
    const field = slots?.ofScalar(scalar) ?? scalar.name;
    scalars.set(scalar.name, { ...scalar, field, member: memberOf(field) });
  };
  for (const { name, type } of queryableScalars(model).values()) {
    const fieldType = fieldTypeOf(type);
    const whole = wholeText(fieldType);
    // Grams cause most of a document's cost. So a copy only has grams of the short texts that people search by: names and titles. For other
    // texts, queries ask the row's own index.
    const isSearched = hops <= 1 && type === 'string' && model.attributes.has(name);
    const copied = isSearched ? 'folded' : 'none';
    add({ name, type, fieldType, text: kind === 'embedded' ? copied : whole });
  }
  if (isContentType(model) && kind === 'root') {
    add({ name: PUBLICATION_STATE_FIELD, type: 'string', fieldType: 'keyword', text: 'none' });
    add({ name: DOCUMENT_PUBLISHED_FIELD, type: 'boolean', fieldType: 'boolean', text: 'none' });
  }
  return scalars;
}

/** Returns the fields for text operators on a column of a row that is not a copy. */
function wholeText(fieldType: FieldType): PlacedScalar['text'] {
  if (fieldType === 'keyword' || fieldType === 'json') return 'grams';
  // The process compares both values of a boolean itself.
  return fieldType === 'boolean' ? 'none' : 'form';
}

function createStep(around: Surroundings, at: Address, attribute: Attribute): PlacedStep | undefined {
  switch (attribute.kind) {
    case 'relation':
      return isReachable(around.registry, attribute) ? createRelation(around, at, attribute) : undefined;
    case 'component':
      return attribute.private ? undefined : createComponents(around, at, attribute);
    case 'dynamiczone':
      return attribute.private || at.kind === 'embedded' ? undefined : createZone(around, at, attribute);
    default:
      return undefined;
  }
}

function createRelation(around: Surroundings, at: Address, attribute: RelationAttribute): PlacedRelation {
  const { name, target, mappedBy, toMany } = attribute;
  const field = around.slots?.ofRelation() ?? name;
  const side = mappedBy === undefined ? { linkField: `${at.prefix}t.${field}` } : { mappedBy };
  const step: PlacedRelation = {
    kind: 'relation',
    attribute: name,
    field,
    member: memberOf(field),
    target,
    ...side,
  };
  if (attribute.private || around.slots !== undefined || !isCopied(around, attribute)) return step;
  const objectField = `${at.prefix}e.${name}`;
  const inside: Surroundings = {
    ...around,
    hops: around.hops + 1,
    inList: around.inList || toMany,
    path: [...around.path, name],
    types: [...around.types, target],
  };
  const model = contentTypeOf(around.registry, target);
  const address: Address = {
    prefix: `${objectField}.`,
    model,
    rowSet: { type: target, path: [] },
    kind: 'embedded',
  };
  const embedded = { objectField, list: toMany, place: createPlace(inside, address) };
  // The rows of a copy's relations are never read from the document. So the key of the next copy is enough.
  const isKeyCopied = at.kind === 'embedded' && mappedBy === undefined && !toMany;
  return { ...step, embedded, ...(isKeyCopied && { linkField: copiedKeyField(objectField) }) };
}

/**
 * Returns whether documents copy a relation: chains of to-one relations, owned to-many relations, and paths in the settings. A chain ends
 * where it comes to a content type again: such chains lead back, or from parent to parent, and most of their fields are never used. Files
 * are copied only if the settings name them, because they are rarely used in filters.
 */
function isCopied(
  { settings, hops, inList, path, types }: Surroundings,
  attribute: RelationAttribute,
): boolean {
  if (isNamed(settings, [...path, attribute.name])) return true;
  if (hops > 0 && new Set([...types, attribute.target]).size <= types.length) return false;
  if (attribute.target === FILE_TYPE || attribute.name === 'localizations' || inList) return false;
  if (!attribute.toMany) return hops < settings.toOne;
  return attribute.mappedBy === undefined && hops < settings.toMany;
}

function isNamed({ paths }: DenormaliseSettings, path: readonly string[]): boolean {
  const here = path.join('.');
  return paths.some((named) => named === here || named.startsWith(`${here}.`));
}

function createComponents(
  around: Surroundings,
  at: Address,
  attribute: ComponentAttribute,
): PlacedStep | undefined {
  const { name, component, repeatable } = attribute;
  const inside = { ...around, path: [...around.path, name] };
  if (at.kind === 'embedded' && repeatable && !isNamed(around.settings, inside.path)) return undefined;
  if (at.item !== undefined) return createSharedComponents(inside, at, at.item, attribute);
  const objectField = `${at.prefix}c.${name}`;
  const place = createComponentPlace(
    inside,
    { ...at, prefix: `${objectField}.` },
    { attribute: name, component },
  );
  return { kind: 'component', attribute: name, member: memberOf(name), objectField, list: repeatable, place };
}

/** A single component shares the item of the component that contains it. The lists of all components of a level share one nested list. */
function createSharedComponents(
  inside: Surroundings,
  at: Address,
  item: SharedItem,
  { name, component, repeatable }: ComponentAttribute,
): PlacedStep {
  const objectField = repeatable ? `${item.list}.c` : item.list;
  const step = { attribute: name, component };
  const place = repeatable
    ? createItemPlace(inside, at, { list: objectField, mark: `${markOf(at.rowSet)}/${name}` }, step)
    : createComponentPlace(inside, at, step);
  return { kind: 'component', attribute: name, member: memberOf(name), objectField, list: repeatable, place };
}

/** Returns the kind of a dynamic zone's component, and the attributes and kinds from there to the row set. */
function markOf({ path }: RowSet): string {
  return path
    .flatMap(({ attribute, zoneComponent = [] }, at) => [at === 0 ? [] : attribute, zoneComponent].flat())
    .join('/');
}

function createItemPlace(
  inside: Surroundings,
  at: Address,
  item: SharedItem,
  step: ComponentStep & { readonly component: Uid },
): Place {
  const below = { ...inside, slots: createSlots() };
  return createComponentPlace(below, { ...at, prefix: `${item.list}.`, item }, step);
}

function createZone(
  around: Surroundings,
  at: Address,
  { name, components }: DynamicZoneAttribute,
): PlacedStep {
  const { item } = at;
  // A zone in an item has its components in the list of all lists of that item.
  const objectField = item === undefined ? `${at.prefix}c.${name}` : `${item.list}.c`;
  const inside = { ...around, path: [...around.path, name] };
  const places = components.map((uid) => {
    const step = { attribute: name, zoneComponent: uid, component: uid };
    const mark = item === undefined ? uid : `${markOf(at.rowSet)}/${name}/${uid}`;
    return [uid, createItemPlace(inside, at, { list: objectField, mark }, step)] as const;
  });
  return { kind: 'zone', attribute: name, member: memberOf(name), objectField, components: new Map(places) };
}

function createComponentPlace(
  around: Surroundings,
  { rowSet, kind, ...at }: Address,
  { component, ...step }: ComponentStep & { readonly component: Uid },
): Place {
  return createPlace(around, {
    ...at,
    model: componentOf(around.registry, component),
    rowSet: { type: rowSet.type, path: [...rowSet.path, step] },
    // Components of an embedded row are copies too.
    kind: kind === 'embedded' ? 'embedded' : 'component',
  });
}
