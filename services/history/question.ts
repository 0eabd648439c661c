import type { ContentGraph } from '../../projections/graph/content-graph.ts';
import { may, mayFind, mayReadDrafts, mayReadHistory, type Rights } from '../../shared/access/rights.ts';
import type { ContentGraphReader } from '../../shared/document/entry.ts';
import type { LinkTarget } from '../../shared/document/events.ts';
import type { RecordedRows } from '../../shared/document/recorded-rows.ts';
import { RequestError } from '../../shared/request-error.ts';
import { type ContentType, type Uid, USER_TYPE } from '../../shared/schema/content-type.ts';
import { contentTypeOf, type SchemaRegistry } from '../../shared/schema/schema-registry.ts';
import type { RequestRules } from '../query/plan-query.ts';
import type { VersionsOptions } from './read-versions.ts';

export type HistoryOptions = VersionsOptions & {
  readonly graph: Pick<ContentGraph, 'deletions'> & {
    readonly reader: Pick<ContentGraphReader, 'entries' | 'exists' | 'streamRevision'>;
    readonly recorded: Pick<RecordedRows, 'links' | 'stamps'>;
  };
  readonly rules: RequestRules;
};

/** A caller, and the content types as that caller sees them. */
export type HistoryCaller = {
  readonly rights: Rights;
  readonly registry: SchemaRegistry;
  /** Header of the request; another process may have to answer it. */
  readonly authorization: string | undefined;
};

/** A request about the past. `query`: the raw query string. */
export type HistoryQuestion = {
  readonly kind: 'versions' | 'version' | 'diff' | 'deleted';
  readonly type: Uid;
  /** Absent: the document of a single type. */
  readonly documentId?: string | undefined;
  /** Version in the path. Absent: the path has none. */
  readonly version?: string | undefined;
  readonly query: string;
};

/** A question of a caller with the right to ask it. */
export type AskedHistory = {
  /** The content type as the caller sees it. */
  readonly type: ContentType;
  readonly documentId: string;
  readonly version: string;
  readonly query: string;
  readonly viewer: HistoryViewer;
};

/** Parts of the past that a caller may see. */
export type HistoryViewer = {
  readonly registry: SchemaRegistry;
  readonly isFull: boolean;
  readonly mayReadDrafts: boolean;
  readonly mayFind: (type: Uid) => boolean;
  /** Returns whether the caller may see that a version links to a document. */
  readonly showsTarget: (type: Uid, target: LinkTarget) => boolean;
};

/** Returns whether a caller may ask a question of this kind about a type. Other callers get the answer to an unknown path. */
export function mayAsk(
  { rights, registry }: Pick<HistoryCaller, 'rights' | 'registry'>,
  { kind, type }: Pick<HistoryQuestion, 'kind' | 'type'>,
): boolean {
  const isSingle = registry.contentTypes.get(type)?.kind === 'singleType';
  const read = kind === 'deleted' || isSingle ? 'find' : 'findOne';
  return mayReadHistory(rights) && may(rights, type, read);
}

/** Returns the answer to a path that does not exist. */
export function unknownPath(): RequestError {
  return new RequestError('not-found', 'Not Found');
}

/** Checks the right to ask, and finds the document of a single type. Throws RequestError (404). */
export function askedBy(
  options: HistoryOptions,
  caller: HistoryCaller,
  question: HistoryQuestion,
): AskedHistory {
  if (!mayAsk(caller, question)) throw unknownPath();
  const { rights, registry } = caller;
  const { type, documentId, version = '', query } = question;
  return {
    type: contentTypeOf(registry, type),
    documentId: documentId ?? documentOfSingle(options, type),
    version,
    query,
    viewer: {
      registry,
      isFull: rights.kind === 'full-access',
      mayReadDrafts: mayReadDrafts(rights),
      mayFind: (uid) => mayFind(rights, uid),
      showsTarget: (uid, target) => mayReadDrafts(rights) || isPublished(options, uid, target),
    },
  };
}

/** Returns whether readers of published entries see a document now. */
function isPublished({ graph }: HistoryOptions, type: Uid, { documentId, locale }: LinkTarget): boolean {
  const rows = graph.reader.entries(type, documentId);
  return rows.some((row) => row.version !== 'draft' && (locale === null || row.locale === locale));
}

/** Returns the oldest document of a single type, else the one that was deleted last; an empty text if there never was one. */
function documentOfSingle({ graph }: HistoryOptions, type: Uid): string {
  for (const [oldest] of graph.recorded.stamps(type)) if (oldest !== undefined) return oldest.documentId;
  return graph.deletions(type, undefined, 1).documents[0]?.documentId ?? '';
}

/** Returns whether answers may name the user who made a version. */
export function mayNameUsers({ mayFind }: HistoryViewer): boolean {
  return mayFind(USER_TYPE);
}
