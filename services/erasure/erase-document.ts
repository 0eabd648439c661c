import * as z from 'zod';
import { RequestError } from '../../shared/request-error.ts';
import { contentTypeOf, type SchemaRegistry } from '../../shared/schema/schema-registry.ts';
import { NotLeading } from '../command/not-leading.ts';
import type { Erasures } from './open-erasures.ts';
import { countErasable, type ErasureLog } from './plan-erasure.ts';

/** Longest reason, in characters. It stays in the log for ever. */
const MOST_REASON = 500;

export const ERASE_FORM = z.strictObject({
  type: z.string().describe('Content type, such as `api::tag.tag`.'),
  documentId: z.string().min(1),
  reason: z.string().max(MOST_REASON).optional().describe('Stays in the log: name no person.'),
  confirm: z.int().optional().describe('Number of documents that are erased, from an answer without it.'),
});

export type EraseRequest = z.output<typeof ERASE_FORM>;

/** Answer to a request to erase. `erased` false: it says what would be erased, and nothing was. */
export type EraseAnswer = {
  readonly erased: boolean;
  /** Id of the order; null if nothing was ordered. */
  readonly order: string | null;
  readonly documents: readonly {
    readonly type: string;
    readonly documentId: string;
    readonly events: number;
  }[];
  readonly count: number;
};

export type EraseOptions = ErasureLog & {
  readonly registry: SchemaRegistry;
  readonly erasures: Pick<Erasures, 'order'>;
  /** Returns whether this process carries out commands. */
  readonly isLeading: () => boolean;
  /** Files with content of before that only an operator may remove. */
  readonly leftovers: () => readonly string[];
};

const KURRENTDB =
  'The events of a log in KurrentDB cannot be rewritten: write the log with varve export, import it into a log in SQLite, erase there, import an export of that into a new --space, delete the streams of the old one and scavenge each node';

/**
 * Erases a document for good, also one that was deleted before: its values in every event, and everything that was made of them. Without
 * `confirm` it only says what would be erased. Throws RequestError; NotLeading if another process is the leader.
 */
export async function eraseDocument(options: EraseOptions, request: EraseRequest): Promise<EraseAnswer> {
  const { log, registry, erasures, isLeading, leftovers } = options;
  const { type, documentId, reason = null, confirm } = request;
  if (log.chain === undefined) throw new RequestError('not-supported', KURRENTDB);
  if (!registry.contentTypes.has(type))
    throw new RequestError('not-found', `There is no content type ${type}`, { found: type });
  const events = await countErasable(options, { type, documentId });
  if (events === 0)
    throw new RequestError(
      'not-found',
      `${contentTypeOf(registry, type).displayName} ${documentId} has nothing to erase`,
    );
  const documents = [{ type, documentId, events }];
  const count = documents.length;
  if (confirm === undefined) return { erased: false, order: null, documents, count };
  if (confirm !== count)
    throw new RequestError('invalid-body', `confirm must be ${count}, the number of documents`, {
      path: 'confirm',
      found: confirm,
      accepted: count,
    });
  const [left] = leftovers();
  if (left !== undefined)
    throw new RequestError(
      'not-supported',
      `${left} has the log of before an upgrade: remove it, then erase`,
    );
  if (!isLeading()) throw new NotLeading();
  const order = await erasures.order({ type, documentId, reason });
  return { erased: true, order: order.id, documents: [{ type, documentId, events: order.events }], count };
}
