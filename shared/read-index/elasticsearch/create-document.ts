import { createRecentValues, type RecentValues } from '../../recent-values.ts';
import type { Scalar } from '../bool-query.ts';
import { compareCodePoints } from '../column.ts';
import type { Neighbour, Neighbours } from '../document-index.ts';
import type { IndexedComponent, IndexedRow } from '../read-index.ts';
import { columnsText, type HeldRow, member, storedColumn } from './columns-text.ts';
import type { DocumentLayout, Place, PlacedRelation, PlacedStep, SortPath } from './document-layout.ts';
import { type StoredLinks, type StoredPart, type StoredParts, zoneHolder } from './index-document.ts';

type Members<T> = { [name: string]: T };

/**
 * What a row's document holds, made from the row and what is around it in one world: the JSON of a `DocumentBody`. As text,
 * since many documents hold the same parts: those are made once. Pure, given `neighbours`.
 */
export function createDocument(
  layout: DocumentLayout,
  key: number,
  row: IndexedRow,
  neighbours: Neighbours,
): string {
  const held: HeldRow = { key, fields: row.fields, components: row.components };
  const { text, links, parts } = createBody(neighbours, layout.root, held, true);
  const { source } = row;
  return `{${[
    `"key":${key}`,
    `"src":"${Buffer.from(source.buffer, source.byteOffset, source.byteLength).toString('base64')}"`,
    ...(links === undefined ? [] : [`"links":"${base64Json(links)}"`]),
    ...(parts === undefined ? [] : [`"parts":"${base64Json(parts)}"`]),
    text,
    ...sortsText(neighbours, layout, held),
  ].join()}}`;
}

function base64Json(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64');
}

type CreatedBody = {
  /** The members of the place's object. */
  readonly text: string;
  readonly links: StoredLinks | undefined;
  readonly parts: StoredParts | undefined;
};

/** A body in the making; `links` and `parts` are what `populate` reads, kept for the document's own row and its components. */
type Draft = {
  readonly own: boolean;
  /** Members of the objects of that name. */
  readonly c: string[];
  readonly e: string[];
  readonly t: string[];
  readonly links: Members<StoredLinks[string]>;
  readonly parts: Members<readonly StoredPart[]>;
};

function createBody(neighbours: Neighbours, place: Place, held: HeldRow, own: boolean): CreatedBody {
  const draft: Draft = { own, c: [], e: [], t: [], links: {}, parts: {} };
  for (const step of place.steps.values()) {
    if (step.kind === 'relation') addLinked(draft, neighbours, place, held, step);
    else addComponents(draft, neighbours, held, step);
  }
  const { c, e, t, links, parts } = draft;
  let text = columnsText(place, held.fields);
  if (c.length > 0) text += `,"c":{${c.join()}}`;
  if (e.length > 0) text += `,"e":{${e.join()}}`;
  if (t.length > 0) text += `,"t":{${t.join()}}`;
  return { text, links: isEmpty(links) ? undefined : links, parts: isEmpty(parts) ? undefined : parts };
}

function addLinked(
  draft: Draft,
  neighbours: Neighbours,
  place: Place,
  held: HeldRow,
  step: PlacedRelation,
): void {
  const { attribute } = step;
  if (step.linkField === undefined && step.embedded === undefined) return;
  const linked = neighbours.linked(place.space, held.key, attribute);
  if (linked.length === 0) return;
  if (step.linkField !== undefined) {
    draft.t.push(`${member(attribute)}[${linked.map(({ key }) => key).join()}]`);
    if (draft.own) draft.links[attribute] = linked.map(({ key, otherOrder }) => [key, otherOrder]);
  }
  const embedded = embeddedText(neighbours, step, linked);
  if (embedded !== undefined) draft.e.push(member(attribute) + embedded);
}

function addComponents(
  draft: Draft,
  neighbours: Neighbours,
  held: HeldRow,
  step: Exclude<PlacedStep, PlacedRelation>,
): void {
  const { attribute } = step;
  const items = held.components[attribute] ?? [];
  if (items.length === 0) return;
  const created = items.map((item) => createComponent(neighbours, step, item, draft.own));
  const bodies = created.map(({ text }) => text);
  const isOne = step.kind === 'component' && !step.list;
  draft.c.push(member(attribute) + (isOne ? bodies[0] : `[${bodies.join()}]`));
  if (draft.own) draft.parts[attribute] = created.map(({ part }) => part);
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
): { readonly text: string; readonly part: StoredPart } {
  const place = step.kind === 'component' ? step.place : step.components.get(item.component);
  if (place === undefined) throw new Error(`${item.component} has no place in ${step.holder}`);
  const { text, links, parts } = createBody(neighbours, place, item, own);
  const part: StoredPart = {
    key: item.key,
    component: item.component,
    source: Buffer.from(item.source).toString(),
    ...(links === undefined ? {} : { links }),
    ...(parts === undefined ? {} : { components: parts }),
  };
  if (step.kind === 'component') return { text: `{${text}}`, part };
  // The kind in front, the fields below a name of its own: kinds may use one name for different types.
  const kind = `"kind":${JSON.stringify(item.component)}`;
  return { text: `{${kind},${member(zoneHolder(item.component))}{${text}}}`, part };
}

/** In characters, at each place: what of copies is held for the next documents of a world, by key. */
const COPIES_HELD = 2 ** 21;
type Copies = RecentValues<number, string>;
const copies = new WeakMap<Neighbours, Map<Place, Copies>>();

function copiesAt(neighbours: Neighbours, place: Place): Copies {
  const byPlace = copies.get(neighbours) ?? new Map<Place, Copies>();
  const known = byPlace.get(place);
  if (known !== undefined) return known;
  const created = createRecentValues(COPIES_HELD, (text: string) => text.length);
  copies.set(neighbours, byPlace.set(place, created));
  return created;
}

function embeddedText(
  neighbours: Neighbours,
  { target, embedded }: PlacedRelation,
  linked: readonly Neighbour[],
): string | undefined {
  if (embedded === undefined) return undefined;
  const { place, list } = embedded;
  const known = copiesAt(neighbours, place);
  const bodies: string[] = [];
  for (const { key } of linked) {
    let text = known.get(key);
    if (text === undefined) {
      const row = neighbours.row(target, key);
      if (row === undefined) continue;
      text = `{"key":${key},${createBody(neighbours, place, { key, ...row }, false).text}}`;
      known.set(key, text);
    }
    bodies.push(text);
  }
  return list ? `[${bodies.join()}]` : bodies[0];
}

function sortsText(
  neighbours: Neighbours,
  { root, sortPaths }: DocumentLayout,
  held: HeldRow,
): readonly string[] {
  const sorts: string[] = [];
  for (const sortPath of sortPaths)
    addSorts(sorts, sortPath, pathEnds(neighbours, root, held, sortPath.path));
  return sorts.length === 0 ? [] : [`"s":{${sorts.join()}}`];
}

function addSorts(sorts: string[], { fields }: SortPath, ends: readonly (HeldRow | null)[]): void {
  for (const { scalar, low, high } of fields) {
    let [least, greatest]: [Scalar | undefined, Scalar | undefined] = [undefined, undefined];
    let hasNull = false;
    for (const end of ends) {
      const value = end?.fields[scalar.name] ?? null;
      if (value === null) {
        hasNull = true;
        continue;
      }
      if (least === undefined || compareScalars(value, least) < 0) least = value;
      if (greatest === undefined || compareScalars(value, greatest) > 0) greatest = value;
    }
    if (least === undefined || greatest === undefined) continue;
    sorts.push(member(low) + JSON.stringify(storedColumn(scalar, least)));
    if (!hasNull) sorts.push(member(high) + JSON.stringify(storedColumn(scalar, greatest)));
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
  held: HeldRow,
  path: readonly string[],
): readonly (HeldRow | null)[] {
  const [name, ...rest] = path;
  if (name === undefined) return [held];
  const step = place.steps.get(name);
  const found: HeldRow[] = [];
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
