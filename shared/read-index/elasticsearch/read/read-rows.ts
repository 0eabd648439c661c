import { defined } from '../../../defined.ts';
import type { ComponentStep, RowSet } from '../../read-index.ts';
import { type DocumentLayout, keyFieldOf, type Place } from '../layout/document-layout.ts';
import { PAGE_OF_KEYS } from '../layout/index-definition.ts';
import type { StoredLinks, StoredPart, StoredParts } from '../layout/index-document.ts';
import { type Dsl, markDsl, type SortDsl, termsDsl } from '../plan/dsl.ts';
import type { HitFields, RowDetails, SearchHit } from '../wire/search-answer.ts';
import { knownRows, type Session } from './session.ts';

/** Location of a row set in documents: its node, and the innermost list around it. */
export type LocatedRowSet = {
  readonly place: Place;
  readonly keyField: string;
  readonly list: string | undefined;
};

/** Returns the location of a row set. Throws if the schema has no such row set. */
export function locate(layout: DocumentLayout, path: readonly ComponentStep[]): LocatedRowSet {
  let place = layout.root;
  let list: string | undefined;
  for (const { attribute, zoneComponent } of path) {
    const step = place.steps.get(attribute);
    const next =
      step?.kind === 'zone'
        ? step.components.get(zoneComponent ?? '')
        : step?.kind === 'component'
          ? step.place
          : undefined;
    if (next === undefined) throw new Error(`${place.model.uid} has no components at ${attribute}`);
    if (step?.kind === 'zone' || (step?.kind === 'component' && step.list)) list = step.objectField;
    place = next;
  }
  return { place, keyField: keyFieldOf(place), list };
}

/** Fields of whole rows besides their key. */
const BINARY_FIELDS: readonly string[] = ['src', 'links', 'parts'];

/** Returns the fields of rows besides their key. `details`: includes the data that `traverse` needs. */
export function rowFields(details: boolean): readonly string[] {
  return details ? BINARY_FIELDS : ['src'];
}

export type ReadRow = {
  readonly key: number;
  readonly fields: HitFields;
  readonly source: Uint8Array;
  readonly details: RowDetails;
};

export const NO_SOURCE = new Uint8Array(0);

/** Selects rows, their order and their fields. Absent members: all rows, in any order. */
export type RowSelection = {
  readonly fields: readonly string[];
  readonly query?: Dsl | undefined;
  readonly sort?: readonly SortDsl[] | undefined;
};

/** Returns the values of the rows with these keys that match `query`, in the order of `sort`. `query` is relative to the row set's node. */
export async function readRows(
  session: Session,
  rowSet: RowSet,
  keys: readonly number[],
  { fields, query, sort }: RowSelection,
): Promise<readonly ReadRow[]> {
  if (keys.length === 0) return [];
  if (sort !== undefined && keys.length > PAGE_OF_KEYS)
    throw new Error(`${keys.length} rows to sort in pieces`);
  const located = locate(session.layouts(rowSet.type), rowSet.path);
  const rows: ReadRow[] = [];
  for (let at = 0; at < keys.length; at += PAGE_OF_KEYS) {
    const asked = keys.slice(at, at + PAGE_OF_KEYS);
    const wanted = rowsDsl(located, asked);
    const matching: Dsl = query === undefined ? wanted : { bool: { filter: [wanted, query] } };
    const docvalue_fields = [located.keyField, ...fields];
    const search = {
      // Elasticsearch allocates memory for the requested number of hits. A row is one document.
      size: located.keyField === 'key' ? asked.length : PAGE_OF_KEYS,
      ...defined({ sort }),
      ...(located.list === undefined
        ? { query: matching, docvalue_fields }
        : { query: listQuery(located.list, matching, docvalue_fields) }),
    };
    const answer = await session.search(rowSet.type, search);
    for (const hit of answer.hits.hits) collectRows(rows, located, hit);
  }
  return rows;
}

/** Matches the rows of a row set that have these keys. Keys of components are unique for one kind of component. */
function rowsDsl({ place: { item }, keyField }: LocatedRowSet, keys: readonly number[]): Dsl {
  const wanted = termsDsl(keyField, keys);
  return item === undefined ? wanted : { bool: { filter: [markDsl(item), wanted] } };
}

function listQuery(path: string, query: Dsl, docvalue_fields: readonly string[]): Dsl {
  const inner_hits = { size: PAGE_OF_KEYS, _source: false as const, docvalue_fields };
  return { nested: { path, query, score_mode: 'none', inner_hits } };
}

function collectRows(rows: ReadRow[], { list, keyField }: LocatedRowSet, hit: SearchHit): void {
  const hits = list === undefined ? [hit] : (hit.inner_hits?.[list]?.hits.hits ?? []);
  for (const each of hits) {
    const { fields = {}, source = NO_SOURCE } = each;
    rows.push({ key: fields[keyField]?.[0] as number, fields, source, details: hitDetails(each) });
  }
}

/** Returns the JSON of a binary field, which is base64 in a hit. */
function jsonField(fields: HitFields, name: string): unknown {
  const value = fields[name]?.[0];
  return value === undefined ? undefined : JSON.parse(Buffer.from(value as string, 'base64').toString());
}

/** Returns the details of a row in a hit. */
export function hitDetails({ details, fields = NO_FIELDS }: SearchHit): RowDetails {
  return details ?? { fields };
}

/** Stores a row for the rest of the answer. */
export function rememberRow(session: Session, rowSet: RowSet, key: number, details: RowDetails): void {
  knownRows(session, rowSet).set(key, details);
}

/** Returns the links of a row, and parses them only once. */
export function linksOf(details: RowDetails): StoredLinks {
  details.links ??= (jsonField(details.fields, 'links') ?? {}) as StoredLinks;
  return details.links;
}

/** Returns the components of a row, and parses them only once. */
export function componentsOf(details: RowDetails): StoredParts {
  details.parts ??= (jsonField(details.fields, 'parts') ?? {}) as StoredParts;
  return details.parts;
}

/** Stores a component for the rest of the answer. It came with the row that contains it. */
export function rememberPart(session: Session, rowSet: RowSet, part: StoredPart): void {
  const { links = {}, components: parts = {} } = part;
  knownRows(session, rowSet).set(part.key, { fields: NO_FIELDS, links, parts });
}

const NO_FIELDS: HitFields = Object.freeze({});
const NO_DETAILS: RowDetails = Object.freeze({ fields: NO_FIELDS, links: {}, parts: {} });

/** Returns the components and links of each of these rows. They are known already or read with one request. */
export async function detailsOf(
  session: Session,
  rowSet: RowSet,
  keys: readonly number[],
): Promise<(key: number) => RowDetails> {
  const known = knownRows(session, rowSet);
  const unknown = [...new Set(keys.filter((key) => !known.has(key)))];
  if (unknown.length > 0) {
    if (rowSet.path.length === 0) {
      const rows = await readRows(session, rowSet, unknown, { fields: ['links', 'parts'] });
      for (const { key, details } of rows) rememberRow(session, rowSet, key, details);
    } else await readComponents(session, rowSet, unknown);
  }
  return (key) => known.get(key) ?? NO_DETAILS;
}

/** Reads components through the documents that contain them. */
async function readComponents(session: Session, rowSet: RowSet, keys: readonly number[]): Promise<void> {
  const located = locate(session.layouts(rowSet.type), rowSet.path);
  const { list } = located;
  for (let at = 0; at < keys.length; at += PAGE_OF_KEYS) {
    const wanted = rowsDsl(located, keys.slice(at, at + PAGE_OF_KEYS));
    const query: Dsl =
      list === undefined ? wanted : { nested: { path: list, query: wanted, score_mode: 'none' } };
    const body = { size: PAGE_OF_KEYS, query, docvalue_fields: ['parts'] };
    const { hits } = await session.search(rowSet.type, body);
    for (const hit of hits.hits) {
      rememberParts(session, rowSet, componentsOf(hitDetails(hit)), rowSet.path);
    }
  }
}

function rememberParts(
  session: Session,
  rowSet: RowSet,
  parts: StoredParts,
  path: readonly ComponentStep[],
): void {
  const [step, ...rest] = path;
  if (step === undefined) return;
  for (const part of parts[step.attribute] ?? []) {
    if (step.zoneComponent !== undefined && part.component !== step.zoneComponent) continue;
    if (rest.length === 0) rememberPart(session, rowSet, part);
    else rememberParts(session, rowSet, part.components ?? {}, rest);
  }
}
