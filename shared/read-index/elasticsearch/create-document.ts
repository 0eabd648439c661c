import type { Scalar } from '../bool-query.ts';
import { PUBLICATION_STATE_FIELD } from '../bool-query.ts';
import { compareCodePoints, textForm } from '../column.ts';
import type { Neighbour, Neighbours } from '../document-index.ts';
import { foldText } from '../fold-text.ts';
import type { FieldValues, IndexedComponent, IndexedRow } from '../read-index.ts';
import type {
  DocumentLayout,
  Place,
  PlacedRelation,
  PlacedScalar,
  PlacedStep,
  SortPath,
} from './document-layout.ts';
import {
  type DocumentBody,
  type EmbeddedBody,
  type PlaceBody,
  type StoredLinks,
  type StoredPart,
  type StoredParts,
  type StoredValue,
  zoneHolder,
} from './index-document.ts';
import { publicationRank, storedValue } from './stored-value.ts';
import { textGrams } from './text-grams.ts';

/** A row or component with its place in the document. */
type Held = {
  readonly key: number;
  readonly fields: FieldValues;
  readonly components: IndexedRow['components'];
};

type Writable<T> = { -readonly [Name in keyof T]: T[Name] };
type Members<T> = { [name: string]: T };

/** What a row's document holds, made from the row and what is around it in one world. Pure, given `neighbours`. */
export function createDocument(
  layout: DocumentLayout,
  key: number,
  row: IndexedRow,
  neighbours: Neighbours,
): DocumentBody {
  const held: Held = { key, fields: row.fields, components: row.components };
  const { body, links, parts } = createBody(neighbours, layout.root, held, true);
  const sorts = createSorts(neighbours, layout, held);
  return {
    key,
    src: Buffer.from(row.source).toString('base64'),
    ...(links === undefined ? {} : { links: base64Json(links) }),
    ...(parts === undefined ? {} : { parts: base64Json(parts) }),
    ...body,
    ...(sorts === undefined ? {} : { s: sorts }),
  };
}

function base64Json(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64');
}

type CreatedBody = {
  readonly body: PlaceBody;
  readonly links: StoredLinks | undefined;
  readonly parts: StoredParts | undefined;
};

/** A body in the making; `links` and `parts` are what `populate` reads, kept for the document's own row and its components. */
type Draft = {
  readonly own: boolean;
  readonly c: Members<PlaceBody | readonly PlaceBody[]>;
  readonly e: Members<EmbeddedBody | readonly EmbeddedBody[]>;
  readonly t: Members<readonly number[]>;
  readonly links: Members<StoredLinks[string]>;
  readonly parts: Members<readonly StoredPart[]>;
};

function createBody(neighbours: Neighbours, place: Place, held: Held, own: boolean): CreatedBody {
  const draft: Draft = { own, c: {}, e: {}, t: {}, links: {}, parts: {} };
  for (const step of place.steps.values()) {
    if (step.kind === 'relation') addLinked(draft, neighbours, place, held, step);
    else addComponents(draft, neighbours, held, step);
  }
  const { c, e, t, links, parts } = draft;
  const columns = place.kind === 'embedded' ? copiedColumns : createColumns;
  const body = columns(place, held.fields);
  if (!isEmpty(c)) body.c = c;
  if (!isEmpty(e)) body.e = e;
  if (!isEmpty(t)) body.t = t;
  return { body, links: isEmpty(links) ? undefined : links, parts: isEmpty(parts) ? undefined : parts };
}

function addLinked(
  draft: Draft,
  neighbours: Neighbours,
  place: Place,
  held: Held,
  step: PlacedRelation,
): void {
  const { attribute } = step;
  if (step.linkField === undefined && step.embedded === undefined) return;
  const linked = neighbours.linked(place.space, held.key, attribute);
  if (linked.length === 0) return;
  if (step.linkField !== undefined) {
    draft.t[attribute] = linked.map(({ key }) => key);
    if (draft.own) draft.links[attribute] = linked.map(({ key, otherOrder }) => [key, otherOrder]);
  }
  const embedded = createEmbedded(neighbours, step, linked);
  if (embedded !== undefined) draft.e[attribute] = embedded;
}

function addComponents(
  draft: Draft,
  neighbours: Neighbours,
  held: Held,
  step: Exclude<PlacedStep, PlacedRelation>,
): void {
  const { attribute } = step;
  const items = held.components[attribute] ?? [];
  if (items.length === 0) return;
  const created = items.map((item) => createComponent(neighbours, step, item, draft.own));
  const bodies = created.map((each) => each.body);
  draft.c[attribute] = step.kind === 'component' && !step.list ? (bodies[0] as PlaceBody) : bodies;
  if (draft.own) draft.parts[attribute] = created.map((each) => each.part);
}

function isEmpty(members: Members<unknown>): boolean {
  for (const _ in members) return false;
  return true;
}

function createComponent(
  neighbours: Neighbours,
  step: Exclude<PlacedStep, PlacedRelation>,
  item: IndexedComponent,
  own: boolean,
): { readonly body: PlaceBody; readonly part: StoredPart } {
  const place = step.kind === 'component' ? step.place : step.components.get(item.component);
  if (place === undefined) throw new Error(`${item.component} has no place in ${step.holder}`);
  const { body, links, parts } = createBody(neighbours, place, item, own);
  const part: StoredPart = {
    key: item.key,
    component: item.component,
    source: Buffer.from(item.source).toString(),
    ...(links === undefined ? {} : { links }),
    ...(parts === undefined ? {} : { components: parts }),
  };
  if (step.kind === 'component') return { body, part };
  // The kind in front, the fields below a name of its own: kinds may use one name for different types.
  return { body: { kind: item.component, [zoneHolder(item.component)]: body } as PlaceBody, part };
}

function createEmbedded(
  neighbours: Neighbours,
  { target, embedded }: PlacedRelation,
  linked: readonly Neighbour[],
): EmbeddedBody | readonly EmbeddedBody[] | undefined {
  if (embedded === undefined) return undefined;
  const bodies: EmbeddedBody[] = [];
  for (const { key } of linked) {
    const row = neighbours.row(target, key);
    if (row === undefined) continue;
    bodies.push({ key, ...createBody(neighbours, embedded.place, { key, ...row }, false).body });
  }
  return embedded.list ? bodies : bodies[0];
}

/** Columns of rows as they are copied: many documents made one after the other copy the same row. */
const copies = new WeakMap<FieldValues, Map<Place, PlaceBody>>();

function copiedColumns(place: Place, fields: FieldValues): Writable<PlaceBody> {
  const known = copies.get(fields) ?? new Map<Place, PlaceBody>();
  copies.set(fields, known);
  const columns = known.get(place) ?? createColumns(place, fields);
  known.set(place, columns);
  return { ...columns };
}

function createColumns(place: Place, fields: FieldValues): Writable<PlaceBody> {
  const [f, g, w, x]: [Members<StoredValue>, Members<string>, Members<string>, Members<string>] = [
    {},
    {},
    {},
    {},
  ];
  for (const scalar of place.scalars.values()) {
    const { name, text } = scalar;
    const value = fields[name];
    if (value === null || value === undefined) continue;
    f[name] = storedColumn(scalar, value);
    if (text === 'form') x[name] = textForm(scalar.type, value);
    if (text !== 'grams' && text !== 'folded') continue;
    const folded = foldText(String(value));
    g[name] = textGrams(folded);
    if (text === 'grams' && folded !== value) w[name] = textGrams(String(value));
  }
  const body: Writable<PlaceBody> = { f };
  if (!isEmpty(g)) body.g = g;
  if (!isEmpty(w)) body.w = w;
  if (!isEmpty(x)) body.x = x;
  return body;
}

function storedColumn({ name, fieldType }: PlacedScalar, value: Scalar): StoredValue {
  return name === PUBLICATION_STATE_FIELD ? publicationRank(value) : storedValue(fieldType, value);
}

function createSorts(
  neighbours: Neighbours,
  { root, sortPaths }: DocumentLayout,
  held: Held,
): Members<StoredValue> | undefined {
  const sorts: Members<StoredValue> = {};
  for (const sortPath of sortPaths)
    addSorts(sorts, sortPath, pathEnds(neighbours, root, held, sortPath.path));
  return isEmpty(sorts) ? undefined : sorts;
}

function addSorts(sorts: Members<StoredValue>, { fields }: SortPath, ends: readonly (Held | null)[]): void {
  for (const { scalar, low, high } of fields) {
    const values = ends.map((end) => end?.fields[scalar.name] ?? null);
    const known = values.filter((value) => value !== null);
    const [first] = known;
    if (first === undefined) continue;
    sorts[low] = storedColumn(
      scalar,
      known.reduce((a, b) => (compareScalars(b, a) < 0 ? b : a), first),
    );
    if (known.length < values.length) continue;
    sorts[high] = storedColumn(
      scalar,
      known.reduce((a, b) => (compareScalars(b, a) > 0 ? b : a), first),
    );
  }
}

function compareScalars(a: Scalar, b: Scalar): number {
  if (typeof a === 'string' && typeof b === 'string') return compareCodePoints(a, b);
  return a < b ? -1 : a > b ? 1 : 0;
}

/** The rows at the ends of a path; null for each way that ends early. */
function pathEnds(
  neighbours: Neighbours,
  place: Place,
  held: Held,
  path: readonly string[],
): readonly (Held | null)[] {
  const [name, ...rest] = path;
  if (name === undefined) return [held];
  const step = place.steps.get(name);
  const found: Held[] = [];
  if (step?.kind === 'component') {
    found.push(...(held.components[name] ?? []));
    return found.length === 0
      ? [null]
      : found.flatMap((each) => pathEnds(neighbours, step.place, each, rest));
  }
  if (step?.kind !== 'relation' || step.embedded === undefined) throw new Error(`${name} is not copied`);
  const { place: next } = step.embedded;
  for (const { key } of neighbours.linked(place.space, held.key, name)) {
    const row = neighbours.row(step.target, key);
    if (row !== undefined) found.push({ key, ...row });
  }
  return found.length === 0 ? [null] : found.flatMap((each) => pathEnds(neighbours, next, each, rest));
}
