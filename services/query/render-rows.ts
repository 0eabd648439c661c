import type {
  AnswerScope,
  FollowRequest,
  FollowResult,
  Hits,
  ReadIndex,
  RowSpace,
  World,
} from '../../shared/read-index/read-index.ts';
import { RequestError } from '../../shared/request-error.ts';
import type { Uid } from '../../shared/schema/content-type.ts';
import { createMemberSelector } from './select-members.ts';
import type { PopulatedLink, PopulatedZone, PopulateNode, Selection } from './selection.ts';

/** What one answer may populate in all levels together, and how much of it is left. */
export type RowBudget = { readonly total: number; left: number };

/** Rows that `populate` may bring into one answer unless configured otherwise. */
export const DEFAULT_ROW_BUDGET = 20_000;

/** Where the rows live, and what one rendering shares. */
export type RenderContext = {
  readonly index: ReadIndex;
  readonly world: World;
  readonly budget: RowBudget;
  /** As in the search that found the rows. */
  readonly answer?: AnswerScope;
};

/** Bytes in pieces, put together once per answer. */
export type Chunks = readonly Uint8Array[];

const COMMA = Buffer.from(',');
const CLOSE_OBJECT = Buffer.from('}');
const OPEN_LIST = Buffer.from('[');
const CLOSE_LIST = Buffer.from(']');
const NULL = Buffer.from('null');

/** Rows of one level, and how often each is shown in the answer. */
type Level = Hits & { readonly shown: readonly number[] };

/**
 * Response JSON of each row. Whole rows are their stored sources as they are; populated attributes are spliced in before the
 * closing brace. Each attribute of a level is one `follow` for all rows together.
 */
export function renderRows(
  context: RenderContext,
  space: RowSpace,
  hits: Hits,
  selection: Selection,
): Promise<readonly Chunks[]> {
  return renderLevel(context, space, { ...hits, shown: hits.rows.map(() => 1) }, selection);
}

async function renderLevel(
  context: RenderContext,
  space: RowSpace,
  level: Level,
  selection: Selection,
): Promise<readonly Chunks[]> {
  const { fields, populate } = selection;
  const sources = fields === null ? level.sources : level.sources.map(createMemberSelector(fields));
  if (populate.length === 0 || level.rows.length === 0) return sources.map((source) => [source]);
  // A row that several parents show is rendered once.
  const distinct = distinctRows(level);
  const rendered = distinct.first.map((i) => [withoutLast(sources[i] as Uint8Array)]);
  const attributes = await Promise.all(populate.map((node) => renderNode(context, space, distinct, node)));
  for (const [i, { attribute }] of populate.entries()) {
    const name = Buffer.from(`,${JSON.stringify(attribute)}:`);
    for (const [row, value] of (attributes[i] ?? []).entries()) {
      append(rendered[row] as Uint8Array[], [name, ...value]);
    }
  }
  for (const row of rendered) row.push(CLOSE_OBJECT);
  return distinct.places.map((place) => rendered[place] as Chunks);
}

/** Items joined by commas, in brackets. */
export function listOf(items: readonly Chunks[]): Chunks {
  const chunks: Uint8Array[] = [OPEN_LIST];
  for (const [i, item] of items.entries()) {
    if (i > 0) chunks.push(COMMA);
    append(chunks, item);
  }
  chunks.push(CLOSE_LIST);
  return chunks;
}

/** Not `push(...)`: an answer can have more pieces than a call may have arguments. */
function append(chunks: Uint8Array[], more: Chunks): void {
  for (const chunk of more) chunks.push(chunk);
}

type Parents = {
  /** Without repetition. */
  readonly rows: readonly number[];
  /** How often each is shown, all its places together. */
  readonly shown: readonly number[];
  /** Where each first stood in the level. */
  readonly first: readonly number[];
  /** For every place of the level, which of `rows` stands there. */
  readonly places: readonly number[];
};

function distinctRows(level: Level): Parents {
  const index = new Map<number, number>();
  const first: number[] = [];
  const shown: number[] = [];
  const places = level.rows.map((row, i) => {
    const known = index.get(row) ?? first.length;
    if (known === first.length) {
      index.set(row, known);
      first.push(i);
      shown.push(0);
    }
    shown[known] = (shown[known] ?? 0) + (level.shown[i] ?? 1);
    return known;
  });
  return { rows: [...index.keys()], shown, first, places };
}

async function renderNode(
  context: RenderContext,
  space: RowSpace,
  parents: Parents,
  node: PopulateNode,
): Promise<readonly Chunks[]> {
  return node.kind === 'zone'
    ? renderZone(context, space, parents, node)
    : renderLink(context, space, parents, node);
}

async function renderLink(
  context: RenderContext,
  space: RowSpace,
  parents: Parents,
  node: PopulatedLink,
): Promise<readonly Chunks[]> {
  const { attribute, query, sort, countOnly } = node;
  const request: FollowRequest = {
    space,
    world: context.world,
    parents: parents.rows,
    attribute,
    limit: context.budget.left,
    ...(query.kind === 'match_all' ? {} : { query }),
    ...(sort.length === 0 ? {} : { sort }),
    ...(countOnly ? { countOnly } : {}),
  };
  const followed = node.selection.populate.length > 0;
  const result = await follow(context, parents, { ...request, followed });
  if (countOnly) return result.counts.map((count) => [Buffer.from(`{"count":${count}}`)]);
  const childSpace: RowSpace =
    node.kind === 'relation'
      ? { type: node.target, path: [] }
      : { type: space.type, path: [...space.path, { attribute }] };
  const children = flatten(result.children, parents.shown);
  const rendered = await renderLevel(context, childSpace, children, node.selection);
  let at = 0;
  return result.children.map(({ rows }) => {
    const items = rendered.slice(at, at + rows.length);
    at += rows.length;
    return node.toMany ? listOf(items) : (items[0] ?? [NULL]);
  });
}

/** Components of several kinds in one list: each kind is rendered on its own, then all are put back in order. */
async function renderZone(
  context: RenderContext,
  space: RowSpace,
  parents: Parents,
  node: PopulatedZone,
): Promise<readonly Chunks[]> {
  const { attribute } = node;
  const zone = new Map([...node.components].map(([kind, part]) => [kind, part.query]));
  const { world, budget } = context;
  const request = { space, world, parents: parents.rows, attribute, zone, limit: budget.left };
  const result = await follow(context, parents, request);
  const kinds = (result.zoneComponents ?? []).flat();
  const all = flatten(result.children, parents.shown);
  const rendered: Chunks[] = new Array(all.rows.length);
  for (const [kind, { selection }] of node.components) {
    const places = kinds.flatMap((other, i) => (other === kind ? [i] : []));
    const rows = places.map((i) => all.rows[i] as number);
    const sources = places.map((i) => all.sources[i] as Uint8Array);
    const shown = places.map((i) => all.shown[i] as number);
    const kindSpace = { type: space.type, path: [...space.path, { attribute, zoneComponent: kind as Uid }] };
    const part = await renderLevel(context, kindSpace, { rows, sources, shown }, selection);
    for (const [i, place] of places.entries()) rendered[place] = part[i] as Chunks;
  }
  let at = 0;
  return result.children.map(({ rows }) => {
    const items = rendered.slice(at, at + rows.length);
    at += rows.length;
    return listOf(items);
  });
}

/** The budget counts what the answer shows: a row behind two parents counts twice, and so does all behind it. */
async function follow(
  context: RenderContext,
  parents: Parents,
  request: FollowRequest,
): Promise<FollowResult> {
  const { budget } = context;
  const { answer } = context;
  const result = await context.index.follow(answer === undefined ? request : { ...request, answer });
  if (request.countOnly) return result;
  for (const [i, { rows }] of result.children.entries()) budget.left -= rows.length * (parents.shown[i] ?? 1);
  if (result.exceeded || budget.left < 0) refuseTooMany(budget, request.attribute);
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

function flatten(children: readonly Hits[], parentsShown: readonly number[]): Level {
  return {
    rows: children.flatMap(({ rows }) => rows),
    sources: children.flatMap(({ sources }) => sources),
    shown: children.flatMap(({ rows }, i) => rows.map(() => parentsShown[i] ?? 1)),
  };
}

function withoutLast(source: Uint8Array): Uint8Array {
  return source.subarray(0, source.length - 1);
}
