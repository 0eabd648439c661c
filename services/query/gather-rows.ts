import { valueAt } from '../../shared/map-values.ts';
import type {
  AnswerScope,
  Hits,
  ReadIndex,
  RowSet,
  TraverseRequest,
  TraverseResult,
  World,
} from '../../shared/read-index/read-index.ts';
import { RequestError } from '../../shared/request-error.ts';
import type { Uid } from '../../shared/schema/content-type.ts';
import { rest } from '../../shared/turns/slice.ts';
import { TURNS, taskOf } from '../../shared/turns/turns.ts';
import type { PopulatedValue, RowTree, ZoneEntry } from './row-tree.ts';
import { createMemberSelector } from './select-members.ts';
import type { PopulatedLink, PopulatedZone, PopulateNode, Selection } from './selection.ts';

/** Maximum number of rows that one answer may populate in all levels together (`total`), and how many are still allowed (`left`). */
export type RowBudget = { readonly total: number; left: number };

/** Default for the populated rows of one answer. */
export const DEFAULT_ROW_BUDGET = 20_000;

/** Source of the rows, and the state that one answer shares. */
export type GatherContext = {
  readonly index: ReadIndex;
  readonly world: World;
  readonly budget: RowBudget;
  /** The same object as in the search that found the rows. */
  readonly answer?: AnswerScope;
  /** Called for each level of rows that the answer shows; more than once if the answer begins again. */
  readonly shown?: ShownRows | undefined;
};

export type ShownRows = (rowSet: RowSet, world: World, hits: Hits, selection: Selection) => void;

/** Rows of one level, and how often each is shown in the answer. */
type Level = Hits & { readonly shown: readonly number[] };

/**
 * Reads everything that an answer shows of its rows. Each attribute of a level is one `traverse` for all rows together, and a row that
 * several parents show is read once.
 */
export function gatherRows(
  context: GatherContext,
  rowSet: RowSet,
  hits: Hits,
  selection: Selection,
): Promise<RowTree> {
  return gatherLevel(context, rowSet, { ...hits, shown: hits.rows.map(() => 1) }, selection);
}

async function gatherLevel(
  context: GatherContext,
  rowSet: RowSet,
  level: Level,
  selection: Selection,
): Promise<RowTree> {
  const { fields, populate } = selection;
  context.shown?.(rowSet, context.world, level, selection);
  if (populate.length === 0 || level.rows.length === 0) {
    const sources = fields === null ? level.sources : await selectFields(context, level.sources, fields);
    return { sources, places: null, attributes: [] };
  }
  const { places, ...parents } = await piece(context, level.rows.length, () => distinctRows(level));
  const [attributes, sources] = await Promise.all([
    Promise.all(populate.map((node) => gatherAttribute(context, rowSet, parents, node))),
    selectFields(context, parents.sources, fields),
  ]);
  return { sources, places, attributes };
}

async function gatherAttribute(
  context: GatherContext,
  rowSet: RowSet,
  parents: Parents,
  node: PopulateNode,
): Promise<RowTree['attributes'][number]> {
  const value = await gatherNode(context, rowSet, parents, node);
  return { name: memberName(node.attribute), value };
}

/** Bytes of `,"name":` by attribute. The map is bounded by the number of attributes of the content types. */
const memberNames = new Map<string, Uint8Array>();

function memberName(attribute: string): Uint8Array {
  return valueAt(memberNames, attribute, () => Buffer.from(`,${JSON.stringify(attribute)}:`));
}

/** Fewer rows take no significant time. */
const FEW_ROWS = 128;

/** Runs work on rows of a level as a part of the answer's task. */
function piece<Result>(
  { answer = {} }: GatherContext,
  rows: number,
  work: () => Result,
): Result | Promise<Result> {
  return rows <= FEW_ROWS ? work() : TURNS.finish(taskOf(answer), () => work);
}

/** Never throws, because attributes are read at the same time: a failure is a rejection. */
async function selectFields(
  context: GatherContext,
  sources: readonly Uint8Array[],
  fields: Selection['fields'],
): Promise<readonly Uint8Array[]> {
  if (fields === null) return sources;
  const select = createMemberSelector(fields);
  const selected: Uint8Array[] = [];
  return piece(context, sources.length, () => {
    for (const source of sources.slice(selected.length)) {
      selected.push(select(source));
      rest(source.length >> 3);
    }
    return selected;
  });
}

/** Rows of a level without repetition. `shown` counts all positions of a row together. */
type Parents = Level;

function distinctRows(level: Level): Parents & { readonly places: readonly number[] } {
  const index = new Map<number, number>();
  const sources: Uint8Array[] = [];
  const shown: number[] = [];
  const places = level.rows.map((row, i) => {
    const known = index.get(row) ?? sources.length;
    if (known === sources.length) {
      index.set(row, known);
      sources.push(level.sources[i] as Uint8Array);
      shown.push(0);
    }
    shown[known] = (shown[known] ?? 0) + (level.shown[i] ?? 1);
    return known;
  });
  return { rows: [...index.keys()], sources, shown, places };
}

function gatherNode(
  context: GatherContext,
  rowSet: RowSet,
  parents: Parents,
  node: PopulateNode,
): Promise<PopulatedValue> {
  return node.kind === 'zone'
    ? gatherZone(context, rowSet, parents, node)
    : gatherLink(context, rowSet, parents, node);
}

async function gatherLink(
  context: GatherContext,
  rowSet: RowSet,
  parents: Parents,
  node: PopulatedLink,
): Promise<PopulatedValue> {
  const { attribute, query, sort, countOnly, toMany } = node;
  const request: TraverseRequest = {
    rowSet,
    world: context.world,
    parents: parents.rows,
    attribute,
    limit: context.budget.left,
    ...(query.kind === 'match_all' ? {} : { query }),
    ...(sort.length === 0 ? {} : { sort }),
    ...(countOnly ? { countOnly } : {}),
  };
  const traversed = node.selection.populate.length > 0;
  const { children, counts } = await traverse(context, parents, { ...request, traversed });
  if (countOnly) return { kind: 'counts', counts };
  const childRowSet: RowSet =
    node.kind === 'relation'
      ? { type: node.target, path: [] }
      : { type: rowSet.type, path: [...rowSet.path, { attribute }] };
  const level = await piece(context, children.length, () => together(children, parents.shown));
  const tree = await gatherLevel(context, childRowSet, level, node.selection);
  return { kind: 'rows', toMany, starts: startsOf(children), tree };
}

/** Reads the components of a dynamic zone. They are of several kinds in one list, and their relations are read for each kind separately. */
async function gatherZone(
  context: GatherContext,
  rowSet: RowSet,
  parents: Parents,
  node: PopulatedZone,
): Promise<PopulatedValue> {
  const { attribute } = node;
  const zone = new Map([...node.components].map(([kind, part]) => [kind, part.query]));
  const { world, budget } = context;
  const request = { rowSet, world, parents: parents.rows, attribute, zone, limit: budget.left };
  const { children, zoneComponents = [] } = await traverse(context, parents, request);
  const kinds = zoneComponents.flat();
  const all = await piece(context, kinds.length, () => together(children, parents.shown));
  const components: ZoneEntry[] = new Array(kinds.length);
  for (const [kind, { selection }] of node.components) {
    const entries = kinds.flatMap((other, i) => (other === kind ? [i] : []));
    const rows = entries.map((i) => all.rows[i] as number);
    const sources = entries.map((i) => all.sources[i] as Uint8Array);
    const shown = entries.map((i) => all.shown[i] as number);
    const kindRowSet = {
      type: rowSet.type,
      path: [...rowSet.path, { attribute, zoneComponent: kind as Uid }],
    };
    const tree = await gatherLevel(context, kindRowSet, { rows, sources, shown }, selection);
    for (const [place, entry] of entries.entries()) components[entry] = { tree, place };
  }
  return { kind: 'zone', starts: startsOf(children), components };
}

/** Reads the linked rows of a level. The budget counts shown rows: a row with two parents counts twice, and so do all rows below it. */
async function traverse(
  context: GatherContext,
  parents: Parents,
  request: TraverseRequest,
): Promise<TraverseResult> {
  const { answer, budget } = context;
  const result = await context.index.traverse(answer === undefined ? request : { ...request, answer });
  if (request.countOnly) return result;
  result.children.forEach(({ rows }, i) => {
    budget.left -= rows.length * (parents.shown[i] ?? 1);
  });
  if (result.exceeded || budget.left < 0) refuseTooMany(budget, request.attribute);
  return result;
}

function refuseTooMany(budget: RowBudget, attribute: string): never {
  throw new RequestError(
    'query-too-large',
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

/** Children of all parents in one level. */
function together(children: readonly Hits[], parentsShown: readonly number[]): Level {
  const rows: number[] = [];
  const sources: Uint8Array[] = [];
  const shown: number[] = [];
  // A loop by index, because an iterator would make a pair for each of thousands of rows.
  for (let parent = 0; parent < children.length; parent++) {
    const hits = children[parent] as Hits;
    const times = parentsShown[parent] ?? 1;
    for (let i = 0; i < hits.rows.length; i++) {
      rows.push(hits.rows[i] as number);
      sources.push(hits.sources[i] as Uint8Array);
      shown.push(times);
    }
  }
  return { rows, sources, shown };
}

/** Offsets at which each parent's children begin in their level, and the end of the last one. */
function startsOf(children: readonly Hits[]): readonly number[] {
  const starts = [0];
  let end = 0;
  for (const { rows } of children) {
    end += rows.length;
    starts.push(end);
  }
  return starts;
}
