import { visibleNames } from '../../projections/journal/component-parts.ts';
import type { JournalRow } from '../../projections/journal/journal.ts';
import type { Actor } from '../../shared/event-store/event-store.ts';
import type { World } from '../../shared/read-index/read-index.ts';
import { describePagination, resolvePagination } from '../query/pagination.ts';
import { type Problems, refuseIfAny, refuseOtherNames } from '../query/problems.ts';
import { parseQueryString } from '../query/query-string.ts';
import {
  type AskedHistory,
  type HistoryOptions,
  type HistoryViewer,
  mayNameUsers,
  unknownPath,
} from './question.ts';
import { type DocumentVersion, readVersions } from './read-versions.ts';
import { localeIn, refuseCursor, statusIn } from './version-parameters.ts';

/** Body of an answer. */
export type HistoryAnswer = { readonly data: unknown; readonly meta: object };

/** A version of which the caller may see something. */
export type VisibleVersion = Omit<DocumentVersion, 'rows'> & { readonly rows: readonly VisibleRow[] };
type VisibleRow = Omit<JournalRow, 'changed'> & {
  /** Changed attributes that the caller may see; null if any of them may have changed. */
  readonly names: readonly string[] | null;
};

/** Lists the versions of a document, newest first. */
export async function listVersions(options: HistoryOptions, asked: AskedHistory): Promise<HistoryAnswer> {
  const { type, viewer } = asked;
  const query = parseQueryString(asked.query);
  const problems: Problems = [];
  refuseOtherNames(query, ['locale', 'status', 'pagination'], problems);
  const locale = localeIn(query, type, problems);
  const status = statusIn(query, viewer, problems);
  const pagination = resolvePagination(query, problems, options.rules);
  if (pagination.cursor !== undefined) refuseCursor(problems, pagination.cursor, 'Versions have pages');
  refuseIfAny(problems);
  const all = await readVisibleVersions(options, asked);
  const selects = (row: VisibleRow) =>
    (locale === undefined || row.locale === locale) &&
    (status === undefined || !type.draftAndPublish || row.status === status);
  const selected = all
    .map((version) => ({ ...version, rows: version.rows.filter(selects) }))
    .filter(({ rows }) => rows.length > 0)
    .reverse();
  const { start, limit } = pagination;
  const page = selected.slice(start, start + limit);
  return {
    data: page.map((version) => presentVersion(asked, version, locale)),
    meta: { pagination: describePagination(pagination, selected.length) },
  };
}

/** Reads the versions of which the caller may see something, in order. Throws RequestError (404) if there are none. */
export async function readVisibleVersions(
  options: HistoryOptions,
  { type, documentId, viewer }: AskedHistory,
): Promise<readonly VisibleVersion[]> {
  const versions = await readVersions(options, { type: type.uid, documentId });
  const visible = versions.flatMap(({ rows, ...version }): VisibleVersion[] => {
    const shown = rows
      .filter(({ status }) => viewer.mayReadDrafts || status === 'published')
      .map(({ changed, ...row }) => ({
        ...row,
        names: visibleNames(viewer.registry, type.attributes, changed),
      }));
    if (shown.length === 0 || (!viewer.isFull && isHidden(version, shown))) return [];
    return [{ ...version, rows: shown }];
  });
  if (visible.length === 0) throw unknownPath();
  return visible;
}

/** Returns whether a version changes only what the caller may not see. */
function isHidden({ action }: Pick<DocumentVersion, 'action'>, rows: readonly VisibleRow[]): boolean {
  return action === 'update' && rows.every(({ event, names }) => event === 'update' && names?.length === 0);
}

/** Finds a version by its position. Throws RequestError (404) if the caller may not see it, or there is none. */
export function versionAt(versions: readonly VisibleVersion[], version: string): VisibleVersion {
  const found = versions.find(({ position }) => String(position) === version);
  if (found === undefined) throw unknownPath();
  return found;
}

/** Returns a version as answers show it. `locale`: the entry that was asked for; undefined: that of the event. */
export function presentVersion(
  { documentId, viewer }: Pick<AskedHistory, 'documentId' | 'viewer'>,
  { position, action, metadata, statuses, rows, locale: own }: VisibleVersion,
  locale: string | null = own,
) {
  const status = statuses.get(locale) ?? null;
  return {
    id: String(position),
    documentId,
    locale,
    status: viewer.mayReadDrafts ? status : shownWithoutDrafts(status),
    action,
    changed: changedNames(rows),
    createdAt: metadata.at,
    createdBy: presentActor(viewer, metadata.actor),
    via: metadata.via ?? null,
  };
}

function shownWithoutDrafts(status: string | null): World | null {
  return status === null || status === 'draft' ? null : 'published';
}

/** Returns the attributes that an update may have changed; null for everything else, and if they are not known. */
function changedNames(rows: readonly VisibleRow[]): readonly string[] | null {
  const updates = rows.filter(({ event }) => event === 'update').map(({ names }) => names);
  if (updates.length === 0 || updates.includes(null)) return null;
  return [...new Set(updates.flatMap((names) => names ?? []))].sort();
}

/** Returns the author of a version. Ids of tokens need full access, and users are named to callers who may find users. */
export function presentActor(viewer: HistoryViewer, actor: Actor | undefined): object | null {
  if (actor === undefined) return null;
  if (viewer.isFull) return actor;
  if (actor.kind === 'token') return { kind: actor.kind, name: actor.name };
  return actor.kind === 'user' && mayNameUsers(viewer) ? actor : { kind: actor.kind };
}
