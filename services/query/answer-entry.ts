import type { Scalar } from '../../shared/read-index/bool-query.ts';
import type { ReadIndex } from '../../shared/read-index/read-index.ts';
import { type Answering, type AnswerOptions, gatherAnswer } from './answer-list.ts';
import { writeAnswer, writeShort } from './answer-writer.ts';
import { allOf } from './combine-queries.ts';
import type { EntryPlan } from './plan-query.ts';
import type { RowTree } from './row-tree.ts';
import { createRowWriting } from './write-rows.ts';

const OPEN = Buffer.from('{"data":');
const CLOSE = Buffer.from(',"meta":{}}');

/** Runs an entry plan for one document: the body `{"data":{…},"meta":{}}` in UTF-8, or null if there is no such row (404). */
export async function answerEntry(
  index: ReadIndex,
  plan: EntryPlan,
  documentId: string,
  options: AnswerOptions = {},
): Promise<Buffer | null> {
  // `locale=*` names no single entry (SEMANTICS section 12).
  if (plan.type.localized && plan.locale.kind === 'all') return null;
  return index.answer(async (answer) => {
    const entry = await findEntry({ index, options, answer }, plan, 'documentId', documentId);
    if (entry === null) return null;
    return writeAnswer(answer, plan.selection, [
      (writer) => writeShort(writer, OPEN),
      createRowWriting(entry, 0),
      (writer) => writeShort(writer, CLOSE),
    ]);
  }, options);
}

/** Runs an entry plan by numeric id or documentId, and returns the entry without an envelope, like Strapi's users and files. */
export async function answerBareEntry(
  index: ReadIndex,
  plan: EntryPlan,
  id: number | string,
  options: AnswerOptions = {},
): Promise<Buffer | null> {
  return index.answer(async (answer) => {
    const field = typeof id === 'number' ? 'id' : 'documentId';
    const entry = await findEntry({ index, options, answer }, plan, field, id);
    return entry === null ? null : writeAnswer(answer, plan.selection, [createRowWriting(entry, 0)]);
  }, options);
}

async function findEntry(
  answering: Answering,
  plan: EntryPlan,
  field: 'documentId' | 'id',
  value: Scalar,
): Promise<RowTree | null> {
  const { index, answer } = answering;
  const { hits } = await index.search({
    type: plan.type.uid,
    world: plan.world,
    query: allOf([{ kind: 'term', field, value }, plan.query]),
    sort: [],
    from: 0,
    size: 1,
    withTotal: false,
    answer,
    traversed: plan.selection.populate.length > 0,
  });
  return hits.rows.length === 0 ? null : gatherAnswer(answering, plan, plan.world, hits);
}
