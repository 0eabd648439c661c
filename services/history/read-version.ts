import type { Entry } from '../../shared/document/entry.ts';
import type { World } from '../../shared/read-index/read-index.ts';
import type { ContentType } from '../../shared/schema/content-type.ts';
import { type Problems, refuseIfAny, refuseOtherNames } from '../query/problems.ts';
import { parseQueryString } from '../query/query-string.ts';
import { foldDocuments } from './document-at.ts';
import {
  type HistoryAnswer,
  presentVersion,
  readVisibleVersions,
  type VisibleVersion,
  versionAt,
} from './list-versions.ts';
import { presentRow, type Snapshot, snapshotOf } from './present-row.ts';
import type { AskedHistory, HistoryOptions } from './question.ts';
import { localeIn, statusIn } from './version-parameters.ts';

/** Answers one version: the entry after its event, under the content types of now. `data` is null if there was no such entry. */
export async function readVersion(options: HistoryOptions, asked: AskedHistory): Promise<HistoryAnswer> {
  const { type, viewer } = asked;
  const query = parseQueryString(asked.query);
  const problems: Problems = [];
  refuseOtherNames(query, ['locale', 'status'], problems);
  const locale = localeIn(query, type, problems);
  const status = statusIn(query, viewer, problems);
  refuseIfAny(problems);
  const version = versionAt(await readVisibleVersions(options, asked), asked.version);
  const snapshot = await readSnapshot(options, asked, version);
  const row = rowOf(type, snapshot, {
    locale: locale ?? version.locale,
    status: status ?? statusOf(asked, version),
  });
  return {
    data: row === undefined ? null : presentRow(viewer, snapshot, row),
    meta: { version: presentVersion(asked, version, locale) },
  };
}

/** Returns the world that a version is shown in: what its event wrote. */
function statusOf({ viewer }: AskedHistory, { action }: VisibleVersion): World {
  return viewer.mayReadDrafts && action !== 'publish' ? 'draft' : 'published';
}

/** Reads a document as it was after the event of a version. */
export async function readSnapshot(
  options: HistoryOptions,
  { type, documentId }: AskedHistory,
  { revision }: Pick<VisibleVersion, 'revision'>,
): Promise<Snapshot> {
  const name = { type: type.uid, documentId };
  const graph = await foldDocuments(options, [{ ...name, revision }]);
  try {
    return snapshotOf(graph, name);
  } finally {
    graph.close();
  }
}

type RowChoice = { readonly locale: string | null; readonly status: World };

/** Returns a row of a snapshot; undefined if there is none. */
export function rowOf(
  { draftAndPublish, localized }: Pick<ContentType, 'draftAndPublish' | 'localized'>,
  { entries }: Snapshot,
  { locale, status }: RowChoice,
): Entry | undefined {
  const version = draftAndPublish ? status : 'live';
  return entries.find((row) => row.version === version && row.locale === (localized ? locale : null));
}
