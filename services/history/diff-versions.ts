import { type Problems, refuseIfAny, refuseOtherNames } from '../query/problems.ts';
import { parseQueryString, type QueryObject } from '../query/query-string.ts';
import { diffValues } from './diff-values.ts';
import { type HistoryAnswer, presentVersion, readVisibleVersions, versionAt } from './list-versions.ts';
import { presentRow, type Snapshot, snapshotOf } from './present-row.ts';
import type { AskedHistory, HistoryOptions } from './question.ts';
import { readSnapshot, rowOf } from './read-version.ts';
import { localeIn, statusIn } from './version-parameters.ts';

/** Members of an entry that differ between any two versions, or between none. */
const NOT_COMPARED: ReadonlySet<string> = new Set([
  'documentId',
  'locale',
  'createdAt',
  'updatedAt',
  'publishedAt',
]);

const CURRENT = 'current';

/** Answers the differences between a version and another one, or the entry as it is now. */
export async function diffVersions(options: HistoryOptions, asked: AskedHistory): Promise<HistoryAnswer> {
  const { type, viewer, documentId } = asked;
  const query = parseQueryString(asked.query);
  const problems: Problems = [];
  refuseOtherNames(query, ['with', 'format', 'locale', 'status'], problems);
  const other = otherIn(query, problems);
  const words = wordsIn(query, problems);
  const locale = localeIn(query, type, problems);
  const status = statusIn(query, viewer, problems) ?? (viewer.mayReadDrafts ? 'draft' : 'published');
  refuseIfAny(problems);
  const versions = await readVisibleVersions(options, asked);
  const from = versionAt(versions, asked.version);
  const to = other === CURRENT ? undefined : versionAt(versions, other);
  const choice = { locale: locale ?? from.locale, status };
  const valuesIn = (snapshot: Snapshot) => {
    const row = rowOf(type, snapshot, choice);
    const shown = row === undefined ? {} : presentRow(viewer, snapshot, row);
    return Object.fromEntries(Object.entries(shown).filter(([name]) => !NOT_COMPARED.has(name)));
  };
  const before = valuesIn(await readSnapshot(options, asked, from));
  const after = valuesIn(
    to === undefined
      ? snapshotOf(options.graph, { type: type.uid, documentId })
      : await readSnapshot(options, asked, to),
  );
  const present = (version: typeof from) => presentVersion(asked, version, locale);
  return {
    data: { changed: diffValues(before, after, { words }) },
    meta: { from: present(from), to: to === undefined ? CURRENT : present(to) },
  };
}

function otherIn(query: QueryObject, problems: Problems): string {
  const found = query['with'] ?? CURRENT;
  if (typeof found === 'string' && (found === CURRENT || /^\d{1,20}$/.test(found))) return found;
  refuse(problems, 'with', found, 'the id of a version, or current');
  return CURRENT;
}

function wordsIn(query: QueryObject, problems: Problems): boolean {
  const found = query['format'];
  if (found !== undefined && found !== 'words') refuse(problems, 'format', found, 'words, or nothing');
  return found === 'words';
}

function refuse(problems: Problems, param: string, found: unknown, accepted: string): void {
  const message = `Invalid parameter at '${param}'. Expected ${accepted}`;
  problems.push({ phase: 'parameter', message, param, found, accepted });
}
