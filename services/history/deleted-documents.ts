import type { ContentGraph } from '../../projections/graph/content-graph.ts';
import type { Removal } from '../../projections/journal/journal.ts';
import { documentStream } from '../../shared/document/stream-name.ts';
import type { StoredEvent } from '../../shared/event-store/event-store.ts';
import { createEmbeddedIndex } from '../../shared/read-index/embedded/embedded-index.ts';
import type { Model, Uid } from '../../shared/schema/content-type.ts';
import type { SchemaRegistry } from '../../shared/schema/schema-registry.ts';
import { answerList } from '../query/answer-list.ts';
import { describePagination, resolvePagination } from '../query/pagination.ts';
import { planList } from '../query/plan-query.ts';
import { type Problems, refuseIfAny, refuseOtherNames } from '../query/problems.ts';
import { parseQueryString, type QueryObject } from '../query/query-string.ts';
import { commandOf, isErasure } from './document-actions.ts';
import { type DocumentMoment, foldDocuments } from './document-at.ts';
import { type HistoryAnswer, presentActor } from './list-versions.ts';
import type { AskedHistory, HistoryOptions } from './question.ts';
import { refuseCursor } from './version-parameters.ts';

/** Deleted documents that one request looks at. `before` continues with earlier ones. */
const MOST_DOCUMENTS = 200;
/** Events of all of them that one request applies. It leaves out a document that has more alone. */
const MOST_EVENTS = 20_000;

/** Parameters of a list that apply to the last values. */
const OF_LISTS = ['filters', 'fields', 'locale', 'status'];
const OF_VALUES = new RegExp(`^(?:${OF_LISTS.join('|')})(?:\\[|%5B|=|$)`, 'i');

/** A document that was deleted, and the event that did it. */
type Deleted = {
  readonly documentId: string;
  /** Event before the deletion. */
  readonly last: StoredEvent;
  readonly deletion: StoredEvent;
};

/**
 * Lists the documents of a type that were deleted last, with their last values. The usual filters select among them, in an index that only
 * has these documents. Their links lead to documents of which it knows nothing, so filters through relations are refused.
 */
export async function listDeleted(options: HistoryOptions, asked: AskedHistory): Promise<HistoryAnswer> {
  const { type, viewer } = asked;
  const query = parseQueryString(asked.query);
  const problems: Problems = [];
  refuseOtherNames(query, [...OF_LISTS, 'pagination', 'before'], problems);
  const before = positionIn(query, problems);
  const pagination = resolvePagination(query, problems, options.rules);
  if (pagination.cursor !== undefined)
    refuseCursor(problems, pagination.cursor, 'Deleted documents have pages, and before for earlier ones');
  refuseIfAny(problems);
  const plan = planList({
    registry: withoutRelations(viewer.registry),
    type: withoutRelation(type),
    queryString: valuesQuery(asked, query),
    defaultLocale: options.defaultLocale,
    ...options.rules,
    mayFind: viewer.mayFind,
    mayReadDrafts: viewer.mayReadDrafts,
  });
  const { documents, next } = newestDeletions(options, type.uid, before);
  const deleted = new Map<string, Deleted>();
  for (const { documentId } of documents) {
    const found = await deletionOf(options, type.uid, documentId);
    if (found !== undefined) deleted.set(documentId, found);
  }
  const search = { ...plan.search, sort: [], from: 0, size: MOST_ROWS, withTotal: false };
  const rows = await readLast(options, type.uid, [...deleted.values()], { ...plan, search });
  const order = new Map([...deleted.keys()].map((documentId, at) => [documentId, at]));
  const sorted = rows.sort((a, b) => (order.get(a.documentId) ?? 0) - (order.get(b.documentId) ?? 0));
  const page = sorted.slice(pagination.start, pagination.start + pagination.limit);
  return {
    data: page.map(({ id: _id, ...entry }: Row) => entry),
    meta: {
      pagination: describePagination(pagination, sorted.length),
      deletions: page.map(({ documentId }) => presentDeletion(asked, deleted.get(documentId) as Deleted)),
      next: next === undefined ? null : String(next),
    },
  };
}

/** Rows of the documents in all locales. */
const MOST_ROWS = 10_000;

type Row = { readonly documentId: string } & Readonly<Record<string, unknown>>;

function positionIn(query: QueryObject, problems: Problems): bigint | undefined {
  const found = query['before'];
  if (found === undefined) return undefined;
  if (typeof found === 'string' && /^\d{1,18}$/.test(found)) return BigInt(found);
  const accepted = "'meta.next' of an answer";
  const message = `Invalid parameter at 'before'. Expected ${accepted}`;
  problems.push({ phase: 'parameter', message, param: 'before', found, accepted });
  return undefined;
}

/** Returns the parameters for the last values. Callers who see drafts get the last drafts unless they ask for publications. */
function valuesQuery({ query: text, viewer }: AskedHistory, query: QueryObject): string {
  const parts = text.split('&').filter((part) => OF_VALUES.test(part));
  if (viewer.mayReadDrafts && query['status'] === undefined) parts.push('status=draft');
  return parts.join('&');
}

/** Returns as many of the newest deleted documents as one request reads, and the position before which the next request continues. */
function newestDeletions({ graph }: HistoryOptions, type: Uid, before: bigint | undefined) {
  const found = graph.deletions(type, before, MOST_DOCUMENTS);
  const documents: Removal[] = [];
  let [events, next] = [0, before];
  for (const document of found.documents) {
    const length = Number(graph.reader.streamRevision(type, document.documentId) ?? -1n) + 1;
    if (length <= MOST_EVENTS) {
      events += length;
      if (events > MOST_EVENTS) return { documents, next };
      documents.push(document);
    }
    next = document.position;
  }
  return { documents, next: found.next };
}

/** Finds the command that deleted a document; undefined if its last event is another one. */
async function deletionOf(
  { events, space, graph }: HistoryOptions,
  type: Uid,
  documentId: string,
): Promise<Deleted | undefined> {
  const stream = documentStream(space, type, documentId);
  const newest = graph.reader.streamRevision(type, documentId) ?? 0n;
  let last: StoredEvent | undefined;
  let deletion: StoredEvent | undefined;
  for await (const event of events.stream(stream)) {
    if (event.revision > newest) break;
    if (isErasure(event)) {
      last = undefined;
      deletion = undefined;
    } else if (event.type !== 'entry-deleted') {
      last = event;
      deletion = undefined;
    } else if (deletion === undefined || commandOf(deletion) !== commandOf(event)) deletion = event;
  }
  return last === undefined || deletion === undefined ? undefined : { documentId, last, deletion };
}

/** Reads the rows that a plan selects among the last values of documents. */
async function readLast(
  options: HistoryOptions,
  type: Uid,
  deleted: readonly Deleted[],
  plan: Parameters<typeof answerList>[1],
): Promise<Row[]> {
  const moments: DocumentMoment[] = deleted.map(({ documentId, deletion }) => ({
    type,
    documentId,
    revision: deletion.revision - 1n,
  }));
  const graph = await foldDocuments(options, moments);
  try {
    return await searchRows(options, graph, plan);
  } finally {
    graph.close();
  }
}

async function searchRows(
  { registry }: HistoryOptions,
  graph: ContentGraph,
  plan: Parameters<typeof answerList>[1],
): Promise<Row[]> {
  const index = createEmbeddedIndex({ registry });
  for (const batch of graph.readAll()) await index.apply(batch);
  const body = await answerList(index, plan);
  return (JSON.parse(body.toString()) as { readonly data: Row[] }).data;
}

function presentDeletion({ viewer }: AskedHistory, { documentId, last, deletion }: Deleted) {
  const { position, metadata } = deletion;
  return {
    documentId,
    id: String(position),
    version: String(last.position),
    createdAt: metadata.at,
    createdBy: presentActor(viewer, metadata.actor),
    via: metadata.via ?? null,
  };
}

function withoutRelations({ contentTypes, components }: SchemaRegistry): SchemaRegistry {
  return {
    contentTypes: new Map([...contentTypes].map(([uid, type]) => [uid, withoutRelation(type)])),
    components: new Map([...components].map(([uid, component]) => [uid, withoutRelation(component)])),
  };
}

function withoutRelation<Kind extends Model>(model: Kind): Kind {
  const attributes = [...model.attributes].filter(([, { kind }]) => kind !== 'relation');
  return { ...model, attributes: new Map(attributes) };
}
