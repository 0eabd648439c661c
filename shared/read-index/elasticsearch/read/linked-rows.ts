import { defined } from '../../../defined.ts';
import type { Uid } from '../../../schema/content-type.ts';
import type { RowSet } from '../../read-index.ts';
import type { PlacedRelation, PlacedStep } from '../layout/document-layout.ts';
import { PAGE_OF_KEYS, WINDOW } from '../layout/index-definition.ts';
import type { StoredPart } from '../layout/index-document.ts';
import { type Dsl, termsDsl } from '../plan/dsl.ts';
import { bucketsIn, type SearchHit } from '../wire/search-answer.ts';
import {
  componentsOf,
  detailsOf,
  hitDetails,
  linksOf,
  locate,
  type RowSelection,
  rememberPart,
} from './read-rows.ts';
import type { Session } from './session.ts';

/** Returns the step of a row set's attribute to other rows. Throws if the schema does not have it. */
export function stepOf(session: Session, rowSet: RowSet, attribute: string): PlacedStep {
  const { place } = locate(session.layouts(rowSet.type), rowSet.path);
  const step = place.steps.get(attribute);
  if (step === undefined) throw new Error(`${place.model.uid} has no relation ${attribute}`);
  return step;
}

/** Returns the row set of an attribute's components, of one kind if it is a dynamic zone. */
export function partRowSet(rowSet: RowSet, attribute: string, zoneComponent?: string): RowSet {
  const step = zoneComponent === undefined ? { attribute } : { attribute, zoneComponent };
  return { type: rowSet.type, path: [...rowSet.path, step] };
}

/** Returns the components of each parent, in order. */
export async function partsOf(
  session: Session,
  rowSet: RowSet,
  parents: readonly number[],
  step: Exclude<PlacedStep, PlacedRelation>,
): Promise<readonly (readonly StoredPart[])[]> {
  const details = await detailsOf(session, rowSet, parents);
  return parents.map((parent) => {
    const parts = componentsOf(details(parent))[step.attribute] ?? [];
    for (const part of parts) {
      const kind = step.kind === 'zone' ? part.component : undefined;
      rememberPart(session, partRowSet(rowSet, step.attribute, kind), part);
    }
    return parts;
  });
}

/** Returns the keys of each parent's linked rows in link order, if the parents own the links. */
export async function ownedTargets(
  session: Session,
  rowSet: RowSet,
  parents: readonly number[],
  attribute: string,
): Promise<readonly (readonly number[])[]> {
  const details = await detailsOf(session, rowSet, parents);
  return parents.map((parent) => (linksOf(details(parent))[attribute] ?? []).map(([target]) => target));
}

/** A row that links to a parent, with its slot in the parent's list. */
export type LinkingRow = { readonly key: number; readonly order: number; readonly hit: SearchHit };

export type LinkingRows = {
  /** Rows for each parent, unordered unless `sort` is given. */
  readonly lists: readonly (readonly LinkingRow[])[];
  /** True if there are more rows than the search could return. */
  readonly incomplete: boolean;
};

/** First guess of how many rows link to a page of parents. */
const FIRST_SIZE = 1000;

/**
 * Selects rows. `most`: maximum number of rows; absent: the maximum of one search. If there are more, only those of the first guess are
 * read, unless `page` requests the first `most` rows.
 */
type LinkingSelection = RowSelection & { readonly most?: number; readonly page?: true };

/** Finds the rows that own a link to each parent. */
export async function linkingRows(
  session: Pick<Session, 'search'>,
  parents: readonly number[],
  { target, mappedBy = '' }: Pick<PlacedRelation, 'target' | 'mappedBy'>,
  { most = WINDOW, ...selection }: LinkingSelection = { fields: [] },
): Promise<LinkingRows> {
  const lists = new Map<number, LinkingRow[]>(parents.map((parent) => [parent, []]));
  const linked = termsDsl(`t.${mappedBy}`, [...lists.keys()]);
  const { total, hits } = await searchLinked(session, target, linked, { ...selection, most });
  for (const hit of hits) {
    const key = hit.fields?.['key']?.[0] as number;
    for (const [parent, order] of linksOf(hitDetails(hit))[mappedBy] ?? [])
      lists.get(parent)?.push({ key, order, hit });
  }
  // A parent that the request names twice gets its list twice.
  return { lists: parents.map((parent) => lists.get(parent) ?? []), incomplete: total > most };
}

/** Finds linked rows. The first search has a small size, because Elasticsearch allocates memory for the requested number of hits. */
async function searchLinked(
  session: Pick<Session, 'search'>,
  target: Uid,
  linked: Dsl,
  { fields, query, sort, most, page }: LinkingSelection & { readonly most: number },
): Promise<{ readonly total: number; readonly hits: readonly SearchHit[] }> {
  const body = {
    query: query === undefined ? linked : { bool: { filter: [linked, query] } },
    ...defined({ sort }),
    track_total_hits: true,
    docvalue_fields: ['key', 'links', ...fields],
  };
  const size = Math.min(FIRST_SIZE, most);
  const { hits: first } = await session.search(target, { ...body, size });
  const total = first.total?.value ?? 0;
  const isUseless = total > most && page !== true;
  if (total <= size || most <= size || isUseless) return { total, hits: first.hits };
  const { hits: all } = await session.search(target, { ...body, size: Math.min(total, most) });
  return { total, hits: all.hits };
}

/** Returns the number of rows that link to each parent. */
export async function countLinking(
  session: Session,
  parents: readonly number[],
  { target, mappedBy = '' }: PlacedRelation,
  query?: Dsl,
): Promise<readonly number[]> {
  const field = `t.${mappedBy}`;
  const distinct = [...new Set(parents)];
  const counts = new Map<number, number>();
  for (let at = 0; at < distinct.length; at += PAGE_OF_KEYS) {
    const include = distinct.slice(at, at + PAGE_OF_KEYS);
    const linked = termsDsl(field, include);
    const answer = await session.search(target, {
      size: 0,
      query: query === undefined ? linked : { bool: { filter: [linked, query] } },
      aggs: { parents: { terms: { field, include, size: include.length } } },
    });
    const counted = bucketsIn<{ readonly key: number; readonly doc_count: number }>(answer, 'parents');
    for (const { key, doc_count } of counted) counts.set(key, doc_count);
  }
  return parents.map((parent) => counts.get(parent) ?? 0);
}
