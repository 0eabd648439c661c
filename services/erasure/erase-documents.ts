import * as z from 'zod';
import type { ErasureOrdered } from '../../shared/erasure/erasure-events.ts';
import { RequestError } from '../../shared/request-error.ts';
import { contentTypeOf } from '../../shared/schema/schema-registry.ts';
import { NotLeading } from '../command/not-leading.ts';
import { type FindOptions, findDocuments } from './find-documents.ts';
import type { Erasures } from './open-erasures.ts';
import { countErasable, type ErasureLog } from './plan-erasure.ts';

/** Longest reason, in characters. It stays in the log for ever. */
const MOST_REASON = 500;

export const ERASE_FORM = z.strictObject({
  type: z.string().describe('Content type, such as `api::tag.tag`.'),
  documentId: z.string().min(1).optional().describe('The document. Absent: `where` finds them.'),
  where: z
    .string()
    .min(1)
    .optional()
    .describe(
      'Filters of a query string, such as `filters[email]=ada@example.org`: all documents of which a version in some locale matches.',
    ),
  reason: z.string().max(MOST_REASON).optional().describe('Stays in the log: name no person.'),
  confirm: z.int().optional().describe('Number of documents that are erased, from an answer without it.'),
});

export type EraseRequest = z.output<typeof ERASE_FORM>;

/** A document of an answer. `order`: id of the order; null if nothing was ordered. */
type AnsweredDocument = {
  readonly type: string;
  readonly documentId: string;
  readonly events: number;
  readonly order: string | null;
};

/** Answer to a request to erase. `erased` false: it says what would be erased, and nothing was. */
export type EraseAnswer = {
  readonly erased: boolean;
  readonly documents: readonly AnsweredDocument[];
  readonly count: number;
};

export type EraseOptions = ErasureLog &
  FindOptions & {
    readonly erasures: Pick<Erasures, 'order'>;
    /** Returns whether this process carries out commands. */
    readonly isLeading: () => boolean;
    /** Returns whether the document would come back, because a Strapi that is followed has it. */
    readonly isFollowed: (type: string, documentId: string) => boolean;
    /** Files with content of before that only an operator may remove. */
    readonly leftovers: () => readonly string[];
  };

const KURRENTDB =
  'The events of a log in KurrentDB cannot be rewritten: write the log with varve export, import it into a log in SQLite, erase there, import an export of that into a new --space, delete the streams of the old one and scavenge each node';

/**
 * Erases documents for good, also one that was deleted before: their values in every event, and everything that was made of them. Without
 * `confirm` it only says what would be erased. Throws RequestError; NotLeading if another process is the leader.
 */
export async function eraseDocuments(options: EraseOptions, request: EraseRequest): Promise<EraseAnswer> {
  const { log, registry, erasures, isLeading } = options;
  const { type, reason = null, confirm } = request;
  if (log.chain === undefined) throw new RequestError('not-supported', KURRENTDB);
  if (!registry.contentTypes.has(type))
    throw new RequestError('not-found', `There is no content type ${type}`, { found: type });
  const documents = await erasableOf(options, request);
  const count = documents.length;
  if (confirm === undefined) return { erased: false, documents, count };
  if (confirm !== count)
    throw new RequestError('invalid-body', `confirm must be ${count}, the number of documents`, {
      path: 'confirm',
      found: confirm,
      accepted: count,
    });
  refuseLeft(options, documents);
  if (!isLeading()) throw new NotLeading();
  const wanted = documents.map(({ documentId }): ErasureOrdered['data'] => ({ type, documentId, reason }));
  const orders = await erasures.order(wanted);
  const erased = orders.map(({ documentId, events, id }) => ({ type, documentId, events, order: id }));
  return { erased: true, documents: erased, count };
}

/** Returns the documents of a request that have something to erase. Throws RequestError if there are none. */
async function erasableOf(
  options: EraseOptions,
  request: EraseRequest,
): Promise<readonly AnsweredDocument[]> {
  const { type } = request;
  const documents: AnsweredDocument[] = [];
  for (const documentId of await documentsOf(options, request)) {
    const events = await countErasable(options, { type, documentId });
    if (events > 0) documents.push({ type, documentId, events, order: null });
  }
  if (documents.length > 0) return documents;
  const { displayName } = contentTypeOf(options.registry, type);
  const { documentId, where } = request;
  throw new RequestError(
    'not-found',
    documentId === undefined
      ? `No ${displayName} matches ${where}`
      : `${displayName} ${documentId} has nothing to erase`,
  );
}

async function documentsOf(
  options: EraseOptions,
  { type, documentId, where }: EraseRequest,
): Promise<readonly string[]> {
  if (documentId !== undefined && where === undefined) return [documentId];
  if (documentId === undefined && where !== undefined) return findDocuments(options, type, where);
  throw new RequestError('invalid-body', 'Name either documentId or where', { path: 'documentId' });
}

/** Throws if an earlier copy of the documents would be left. */
function refuseLeft({ leftovers, isFollowed }: EraseOptions, documents: readonly AnsweredDocument[]): void {
  const [left] = leftovers();
  if (left !== undefined)
    throw new RequestError(
      'not-supported',
      `${left} has the log of before an upgrade: remove it, then erase`,
    );
  const followed = documents.find(({ type, documentId }) => isFollowed(type, documentId));
  if (followed !== undefined)
    throw new RequestError(
      'not-supported',
      `${followed.documentId} comes from Strapi: delete it there first, and erase it when this server does not show it any more`,
    );
}
