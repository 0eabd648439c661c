import { setImmediate as nextTurn } from 'node:timers/promises';
import * as z from 'zod';
import type { ErasureOrdered } from '../../shared/erasure/erasure-events.ts';
import { RequestError } from '../../shared/request-error.ts';
import type { Uid } from '../../shared/schema/content-type.ts';
import { contentTypeOf } from '../../shared/schema/schema-registry.ts';
import { NotLeading } from '../command/not-leading.ts';
import { ERASURE_LINE, type ErasureLine } from './erasure-file.ts';
import { type FindOptions, findDocuments } from './find-documents.ts';
import type { Erasures } from './open-erasures.ts';
import { countErasable, type ErasureLog } from './plan-erasure.ts';

/** Longest reason, in characters. It stays in the log for ever. */
const MOST_REASON = 500;

export const ERASE_FORM = z.strictObject({
  type: z.string().optional().describe('Content type, such as `api::tag.tag`. Absent: `ledger` names it.'),
  documentId: z.string().min(1).optional().describe('The document. Absent: `where` finds them.'),
  where: z
    .string()
    .min(1)
    .optional()
    .describe(
      'Filters of a query string, such as `filters[email]=ada@example.org`: all documents of which a version in some locale matches.',
    ),
  ledger: z
    .array(ERASURE_LINE.extend({ reason: z.string().max(MOST_REASON).nullable() }))
    .optional()
    .describe(
      'Lines of `erasures.jsonl`: all documents that they name and that exist again. Alone, except for `confirm`.',
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
    /** Adds lines of another data directory's list of erasures to that of this one. */
    readonly note: (lines: readonly ErasureLine[]) => void;
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
  const { log, erasures, isLeading, note } = options;
  const { confirm, ledger = [] } = request;
  if (log.chain === undefined) throw new RequestError('not-supported', KURRENTDB);
  const found = await erasableOf(options, request);
  const count = found.length;
  const documents = found.map(({ events, type, documentId }) => ({ type, documentId, events, order: null }));
  if (confirm === undefined) return { erased: false, documents, count };
  if (confirm !== count)
    throw new RequestError('invalid-body', `confirm must be ${count}, the number of documents`, {
      path: 'confirm',
      found: confirm,
      accepted: count,
    });
  refuseLeft(options, documents);
  if (!isLeading()) throw new NotLeading();
  const orders = await erasures.order(found.map(({ events: _, ...wanted }) => wanted));
  note(ledger);
  const erased = orders.map(({ type, documentId, events, id }) => ({ type, documentId, events, order: id }));
  return { erased: true, documents: erased, count };
}

/** A document that a request names. */
type Wanted = ErasureOrdered['data'];

/** Documents whose events are counted before the thread does something else. */
const AT_ONCE = 50;

/** Returns the documents of a request that have something to erase. Throws RequestError if there are none, unless a ledger names them. */
async function erasableOf(
  options: EraseOptions,
  request: EraseRequest,
): Promise<readonly (Wanted & { readonly events: number })[]> {
  const found: (Wanted & { readonly events: number })[] = [];
  for (const [at, wanted] of (await wantedBy(options, request)).entries()) {
    if (at % AT_ONCE === AT_ONCE - 1) await nextTurn();
    const events = await countErasable(options, wanted);
    if (events > 0) found.push({ ...wanted, events });
  }
  const { type = '', documentId, where, ledger } = request;
  if (found.length > 0 || ledger !== undefined) return found;
  const { displayName } = contentTypeOf(options.registry, type);
  throw new RequestError(
    'not-found',
    documentId === undefined
      ? `No ${displayName} matches ${where}`
      : `${displayName} ${documentId} has nothing to erase`,
  );
}

async function wantedBy(options: EraseOptions, request: EraseRequest): Promise<readonly Wanted[]> {
  const { type, documentId, where, reason, ledger } = request;
  if (ledger !== undefined) {
    const isAlone = [type, documentId, where, reason].every((member) => member === undefined);
    if (isAlone) return documentsIn(ledger);
    const message = 'ledger names the documents and the reasons: omit type, documentId, where and reason';
    throw new RequestError('invalid-body', message, { path: 'ledger' });
  }
  if (type === undefined) throw new RequestError('invalid-body', 'Name type or ledger', { path: 'type' });
  if (!options.registry.contentTypes.has(type))
    throw new RequestError('not-found', `There is no content type ${type}`, { found: type });
  const ids = await documentIdsOf(options, { type, documentId, where });
  return ids.map((id) => ({ type, documentId: id, reason: reason ?? null }));
}

/** Returns the documents that lines name, each once, with the reason of its last line. */
function documentsIn(lines: readonly ErasureLine[]): readonly Wanted[] {
  const named = lines.map(({ type, documentId, reason }) => ({ type, documentId, reason }));
  return [...new Map(named.map((each) => [`${each.type} ${each.documentId}`, each])).values()];
}

async function documentIdsOf(
  options: EraseOptions,
  { type, documentId, where }: Pick<EraseRequest, 'documentId' | 'where'> & { readonly type: Uid },
): Promise<readonly string[]> {
  if (documentId !== undefined && where === undefined) return [documentId];
  if (documentId === undefined && where !== undefined) return findDocuments(options, type, where);
  throw new RequestError('invalid-body', 'Name either documentId or where', { path: 'documentId' });
}

/** Throws if an earlier copy of the documents would be left, or one of them would wait. */
function refuseLeft(
  { leftovers, isFollowed, registry }: EraseOptions,
  documents: readonly AnsweredDocument[],
): void {
  const [left] = leftovers();
  if (left !== undefined)
    throw new RequestError(
      'not-supported',
      `${left} has the log of before an upgrade: remove it, then erase`,
    );
  const unserved = documents.find(({ type }) => !registry.contentTypes.has(type));
  if (unserved !== undefined)
    throw new RequestError(
      'not-supported',
      `${unserved.documentId} cannot be erased while its content type ${unserved.type} is not served: serve it, then erase`,
    );
  const followed = documents.find(({ type, documentId }) => isFollowed(type, documentId));
  if (followed !== undefined)
    throw new RequestError(
      'not-supported',
      `${followed.documentId} comes from Strapi: delete it there first, and erase it when this server does not show it any more`,
    );
}
