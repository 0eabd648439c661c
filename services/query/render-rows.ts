import type {
  FollowRequest,
  FollowResult,
  Hits,
  ReadIndex,
  RowSpace,
  World,
} from '../../shared/read-index/read-index.ts';
import { RequestError } from '../../shared/request-error.ts';
import type { Uid } from '../../shared/schema/content-type.ts';
import { selectMembers } from './select-members.ts';
import type { PopulatedLink, PopulatedZone, PopulateNode, Selection } from './selection.ts';

/** What one answer may populate in all levels together, and how much of it is left. */
export type RowBudget = { readonly total: number; left: number };

/** Rows that `populate` may bring into one answer unless configured otherwise. */
export const DEFAULT_ROW_BUDGET = 20_000;

/** Where the rows live, and what one rendering shares. */
export type RenderContext = { readonly index: ReadIndex; readonly world: World; readonly budget: RowBudget };

const COMMA = Buffer.from(',');
const OPEN_OBJECT = Buffer.from('{');
const CLOSE_OBJECT = Buffer.from('}');
const OPEN_LIST = Buffer.from('[');
const CLOSE_LIST = Buffer.from(']');
const NULL = Buffer.from('null');

/**
 * Response JSON of each row. Whole rows are their stored sources as they are; populated attributes are spliced in before the
 * closing brace. Each attribute of a level is one `follow` for all rows together.
 */
export async function renderRows(
  context: RenderContext,
  space: RowSpace,
  hits: Hits,
  selection: Selection,
): Promise<readonly Uint8Array[]> {
  const { fields, populate } = selection;
  const sources = fields === null ? hits.sources : hits.sources.map((source) => shorten(source, fields));
  if (populate.length === 0 || hits.rows.length === 0) return sources;
  // A row that several parents show is rendered once.
  const distinct = distinctRows(hits.rows);
  const members: Uint8Array[][] = distinct.rows.map(() => []);
  for (const node of populate) {
    const values = await renderNode(context, space, distinct.rows, node);
    const name = Buffer.from(`${JSON.stringify(node.attribute)}:`);
    for (const [i, value] of values.entries()) members[i]?.push(COMMA, name, ...value);
  }
  const rendered = distinct.first.map((i, row) =>
    Buffer.concat([withoutLast(sources[i] as Uint8Array), ...(members[row] ?? []), CLOSE_OBJECT]),
  );
  return distinct.places.map((place) => rendered[place] as Uint8Array);
}

/** Lists joined by commas, in brackets. */
export function listOf(items: readonly Uint8Array[]): Uint8Array[] {
  const chunks: Uint8Array[] = [OPEN_LIST];
  for (const [i, item] of items.entries()) {
    if (i > 0) chunks.push(COMMA);
    chunks.push(item);
  }
  chunks.push(CLOSE_LIST);
  return chunks;
}

/** `rows` without repetition, where each first stood, and for every original place which of them it is. */
function distinctRows(rows: readonly number[]): {
  readonly rows: readonly number[];
  readonly first: readonly number[];
  readonly places: readonly number[];
} {
  const index = new Map<number, number>();
  const first: number[] = [];
  const places = rows.map((row, i) => {
    const known = index.get(row);
    if (known !== undefined) return known;
    index.set(row, first.length);
    first.push(i);
    return first.length - 1;
  });
  return { rows: [...index.keys()], first, places };
}

async function renderNode(
  context: RenderContext,
  space: RowSpace,
  parents: readonly number[],
  node: PopulateNode,
): Promise<readonly (readonly Uint8Array[])[]> {
  return node.kind === 'zone'
    ? renderZone(context, space, parents, node)
    : renderLink(context, space, parents, node);
}

async function renderLink(
  context: RenderContext,
  space: RowSpace,
  parents: readonly number[],
  node: PopulatedLink,
): Promise<readonly (readonly Uint8Array[])[]> {
  const { attribute, query, sort, countOnly } = node;
  const request: FollowRequest = {
    space,
    world: context.world,
    parents,
    attribute,
    limit: context.budget.left,
    ...(query.kind === 'match_all' ? {} : { query }),
    ...(sort.length === 0 ? {} : { sort }),
    ...(countOnly ? { countOnly } : {}),
  };
  const result = await follow(context, request);
  if (countOnly) return result.counts.map((count) => [Buffer.from(`{"count":${count}}`)]);
  const childSpace: RowSpace =
    node.kind === 'relation'
      ? { type: node.target, path: [] }
      : { type: space.type, path: [...space.path, { attribute }] };
  const rendered = await renderRows(context, childSpace, flatten(result.children), node.selection);
  let at = 0;
  return result.children.map(({ rows }) => {
    const items = rendered.slice(at, at + rows.length);
    at += rows.length;
    return node.toMany ? listOf(items) : [items[0] ?? NULL];
  });
}

/** Components of several kinds in one list: each kind is rendered on its own, then all are put back in order. */
async function renderZone(
  context: RenderContext,
  space: RowSpace,
  parents: readonly number[],
  node: PopulatedZone,
): Promise<readonly (readonly Uint8Array[])[]> {
  const { attribute } = node;
  const zone = new Map([...node.components].map(([kind, part]) => [kind, part.query]));
  const request = { space, world: context.world, parents, attribute, zone, limit: context.budget.left };
  const result = await follow(context, request);
  const kinds = (result.zoneComponents ?? []).flat();
  const all = flatten(result.children);
  const rendered: Uint8Array[] = new Array(all.rows.length);
  for (const [kind, { selection }] of node.components) {
    const places = kinds.flatMap((other, i) => (other === kind ? [i] : []));
    const rows = places.map((i) => all.rows[i] as number);
    const sources = places.map((i) => all.sources[i] as Uint8Array);
    const kindSpace = { type: space.type, path: [...space.path, { attribute, zoneComponent: kind as Uid }] };
    const part = await renderRows(context, kindSpace, { rows, sources }, selection);
    for (const [i, place] of places.entries()) rendered[place] = part[i] as Uint8Array;
  }
  let at = 0;
  return result.children.map(({ rows }) => {
    const items = rendered.slice(at, at + rows.length);
    at += rows.length;
    return listOf(items);
  });
}

async function follow(context: RenderContext, request: FollowRequest): Promise<FollowResult> {
  const result = await context.index.follow(request);
  if (result.exceeded) refuseTooMany(context.budget, request.attribute);
  if (!request.countOnly) for (const { rows } of result.children) context.budget.left -= rows.length;
  return result;
}

function refuseTooMany(budget: RowBudget, attribute: string): never {
  throw new RequestError(
    400,
    'ValidationError',
    `Invalid populate parameter: it would bring more than ${budget.total} entries into one answer`,
    {
      param: 'populate',
      source: 'query',
      path: attribute,
      found: `more than ${budget.total} entries`,
      accepted: `at most ${budget.total}: ask for a smaller page, or for fewer relations at once`,
    },
  );
}

function flatten(children: readonly Hits[]): Hits {
  return {
    rows: children.flatMap(({ rows }) => rows),
    sources: children.flatMap(({ sources }) => sources),
  };
}

function shorten(source: Uint8Array, fields: ReadonlySet<string>): Uint8Array {
  return Buffer.concat([OPEN_OBJECT, selectMembers(source, fields), CLOSE_OBJECT]);
}

function withoutLast(source: Uint8Array): Uint8Array {
  return source.subarray(0, source.length - 1);
}
