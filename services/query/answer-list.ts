import { defined } from '../../shared/defined.ts';
import type {
  AnswerScope,
  Hits,
  ReadIndex,
  SearchResult,
  World,
} from '../../shared/read-index/read-index.ts';
import { type AnswerTerms, TURNS, taskOf } from '../../shared/turns/turns.ts';
import { joinRows, writeAnswer, writeBytes, writeShort } from './answer-writer.ts';
import { writeCursor } from './cursor.ts';
import { explainRanking } from './explain-ranking.ts';
import { explainWords } from './explain-words.ts';
import { DEFAULT_ROW_BUDGET, gatherRows, type ShownRows } from './gather-rows.ts';
import { describePagination } from './pagination.ts';
import type { ListPlan } from './plan-query.ts';
import type { RowTree } from './row-tree.ts';
import { suggestQuery, withSimilarWords } from './suggest-query.ts';
import { createWordsMeta } from './words-meta.ts';
import { createListWriting } from './write-rows.ts';

export type AnswerOptions = AnswerTerms & {
  /** Maximum number of populated rows, all levels together; more is a 400. */
  readonly rowBudget?: number;
  readonly shown?: ShownRows | undefined;
};

/** Work on an answer, and the index that it reads. */
export type Answering = {
  readonly index: ReadIndex;
  readonly options: AnswerOptions;
  readonly answer: AnswerScope;
};

const OPEN = Buffer.from('{"data":');

/** Runs a list plan: the body `{"data":[…],"meta":{"pagination":{…}}}` in UTF-8. */
export function answerList(index: ReadIndex, plan: ListPlan, options: AnswerOptions = {}): Promise<Buffer> {
  return index.answer((answer) => listBody({ index, options, answer }, plan), options);
}

async function listBody(answering: Answering, plan: ListPlan): Promise<Buffer> {
  const { index, options, answer } = answering;
  const found = await searchPage(index, plan, answer);
  const { total, hits, next } = found;
  // The page is read before the explanation, which also shows the requests for it.
  const page = showsRowsAsStored(plan)
    ? undefined
    : await gatherAnswer(answering, plan, plan.search.world, hits);
  const nextCursor = plan.cursors === undefined || !next ? null : writeCursor(plan.cursors, next);
  const pagination = describePagination(plan.pagination, total, nextCursor);
  const meta =
    plan.explain === undefined
      ? JSON.stringify({ pagination })
      : jsonText({ pagination, explain: await explainList(index, plan, found, answer) });
  const suggestion = plan.words && suggestQuery(plan.search, found);
  const words = plan.words && createWordsMeta(plan.words, found, suggestion);
  const all =
    words === undefined ? meta : `${meta.slice(0, -1)}${await TURNS.finish(taskOf(answer), () => words)}}`;
  const end = Buffer.from(`,"meta":${all}}`);
  if (page === undefined) {
    options.shown?.({ type: plan.type.uid, path: [] }, plan.search.world, hits, plan.selection);
    return joinRows(OPEN, hits.sources, end);
  }
  return writeAnswer(answer, plan.selection, [
    (writer) => writeShort(writer, OPEN),
    createListWriting(page),
    (writer) => writeBytes(writer, end),
  ]);
}

/** Returns whether the answer shows all fields and populates nothing. */
function showsRowsAsStored({ selection: { fields, populate } }: ListPlan): boolean {
  return fields === null && populate.length === 0;
}

/** Results of the stages of a query, and the engine's explanation of the last one. */
async function explainList(
  index: ReadIndex,
  plan: ListPlan,
  found: SearchResult,
  answer: AnswerScope,
): Promise<object> {
  const { type, search, explain } = plan;
  const { query, sort, groups } = search;
  const engine = await index.explain({ ...search, answer });
  const words = explainWords(type, search, found);
  const ranking = await explainRanking(index, plan, found.hits, answer);
  return {
    filters: explain?.filters ?? null,
    query,
    sort,
    engine,
    ...defined({ groups, search: words, ranking }),
  };
}

/** Returns JSON with 64-bit integers as text. */
function jsonText(value: object): string {
  return JSON.stringify(value, (_, each) => (typeof each === 'bigint' ? String(each) : each));
}

/** Runs a plan of Strapi's users dialect: the bare list (SEMANTICS section 11). */
export function answerBareList(
  index: ReadIndex,
  plan: ListPlan,
  options: AnswerOptions = {},
): Promise<Buffer> {
  return index.answer(async (answer) => {
    const { hits } = await searchPage(index, plan, answer);
    const page = await gatherAnswer({ index, options, answer }, plan, plan.search.world, hits);
    return writeAnswer(answer, plan.selection, [createListWriting(page)]);
  }, options);
}

/** Returns the number of rows that a plan finds, on all pages together. */
export async function answerCount(index: ReadIndex, plan: ListPlan): Promise<Buffer> {
  const { total } = await index.search({ ...plan.search, sort: [], from: 0, size: 0, withTotal: true });
  return Buffer.from(String(total));
}

function searchPage(index: ReadIndex, plan: ListPlan, answer: AnswerScope) {
  const traversed = plan.selection.populate.length > 0;
  return index.search({ ...withSimilarWords(plan), answer, traversed });
}

/** Reads everything that an answer shows of the rows that its search found. */
export function gatherAnswer(
  { index, options, answer }: Answering,
  { type, selection }: Pick<ListPlan, 'type' | 'selection'>,
  world: World,
  hits: Hits,
): Promise<RowTree> {
  const total = options.rowBudget ?? DEFAULT_ROW_BUDGET;
  const context = { index, world, budget: { total, left: total }, answer, shown: options.shown };
  return gatherRows(context, { type: type.uid, path: [] }, hits, selection);
}
