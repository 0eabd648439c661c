import * as z from 'zod';
import { PAGE, pageOf } from '../../shared/list-page.ts';
import { refusedData } from '../../shared/refused-form.ts';
import type { Resource } from '../../shared/resource.ts';
import { ERASE_FORM, type EraseAnswer, type EraseRequest } from './erase-documents.ts';
import type { ErasureLedger, ErasureOrder } from './erasure-ledger.ts';

export type ServedErasures = {
  readonly ledger: () => ErasureLedger;
  /** See Erasures. */
  readonly isDone: (order: string) => boolean;
  readonly erase: (request: EraseRequest) => Promise<EraseAnswer>;
};

const PATH = '/_varve/erasures';
const DOCUMENT = { type: z.string(), documentId: z.string(), events: z.int() };
const ORDER = z.looseObject({
  id: z.string(),
  ...DOCUMENT,
  reason: z.string().nullable(),
  orderedAt: z.string(),
  position: z.string().describe('Of the order in the log.'),
  proof: z.string().nullable().describe('Position of the proof in the log; null: there is none yet.'),
  erased: z.boolean().describe('False: it is being carried out.'),
});
const ANSWER = z.object({
  erased: z.boolean().describe('False: nothing was erased, as the request has no `confirm`.'),
  documents: z.array(z.object({ ...DOCUMENT, order: z.string().nullable() })),
  count: z.int().describe('To be repeated as `confirm`.'),
});

/** Erasures, and the ledger of all of them. */
export const ERASURE_RESOURCES: readonly Resource<ServedErasures>[] = [
  {
    name: 'listErasures',
    summary: 'List erasures, the newest first',
    method: 'GET',
    path: PATH,
    query: z.object(PAGE),
    result: z.array(ORDER),
    run({ ledger, isDone }, { query }) {
      const { rows, pagination } = pageOf([...ledger().orders.values()].toReversed(), query);
      return { data: rows.map((order) => describeOrder(order, isDone(order.id))), meta: { pagination } };
    },
  },
  {
    name: 'erase',
    summary: 'Erase documents for good, or say what would be erased',
    method: 'POST',
    path: PATH,
    body: ERASE_FORM,
    result: ANSWER,
    ofLeader: true,
    async run({ erase }, { data }) {
      const parsed = ERASE_FORM.safeParse(data);
      if (!parsed.success) throw refusedData(parsed.error, 'invalid-body');
      return { data: await erase(parsed.data) };
    },
  },
];

/** An order to erase a document, for callers with full access. */
export type DescribedErasure = ReturnType<typeof describeOrder>;

function describeOrder(order: ErasureOrder, erased: boolean) {
  const { id, type, documentId, events, reason, at, position, erasedAt } = order;
  const proof = erasedAt === undefined ? null : String(erasedAt);
  return { id, type, documentId, events, reason, orderedAt: at, position: String(position), proof, erased };
}
