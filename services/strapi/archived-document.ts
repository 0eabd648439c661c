import { hash } from 'node:crypto';
import { defined } from '../../shared/defined.ts';
import type { EntryImported } from '../../shared/document/events.ts';
import { documentStream } from '../../shared/document/stream-name.ts';
import { USER_ROLES } from '../../shared/schema/built-in-types.ts';
import { type ContentType, type Uid, USER_TYPE } from '../../shared/schema/content-type.ts';
import { SYSTEM_TIMES } from '../../shared/schema/reserved-names.ts';
import { contentTypeOf } from '../../shared/schema/schema-registry.ts';
import { newEvents } from '../command/new-events.ts';
import type { ImportedDocument } from '../transfer/import-documents.ts';
import { roleNumber } from './archived-login.ts';
import { importedValues, ownsRelation, targetsByAttribute, type ValueScope } from './imported-values.ts';
import type { StagedRow, Staging } from './staging.ts';

export type RowScope = ValueScope & {
  readonly staging: Pick<Staging, 'linksOf' | 'row'>;
  /** Returns the id of the draft that a published row gets. Absent: the graph gives it one. */
  readonly draftId?: (type: Uid, publishedId: number) => number | undefined;
};

export type DocumentScope = RowScope & {
  readonly space: string;
  readonly epoch: number;
};

export type ImportedRow = EntryImported['data'];

const AUTHOR = { actor: { kind: 'import' }, via: 'import' } as const;

/** Returns the events of an archive's document, one for each row. Their ids are derived from their content. */
export function archivedDocument(scope: DocumentScope, rows: readonly StagedRow[]): ImportedDocument {
  const [{ type, documentId }] = rows as readonly [StagedRow];
  const definition = contentTypeOf(scope.registry, type);
  const imported = importedRows(scope, definition, rows);
  const digest = hash('sha256', JSON.stringify(imported));
  const key = `archive/${scope.space}/${type}/${documentId}/${digest}`;
  const events = imported.flatMap((data, at) =>
    newEvents([{ type: 'entry-imported', data }], `${key}/${at}`, {
      at: data.updatedAt,
      epoch: scope.epoch,
      ...AUTHOR,
    }),
  );
  const stream = documentStream(scope.space, type, documentId);
  return { kind: 'document', type, documentId, claims: [], stream, events };
}

/** Returns the rows of a document in the form and order of their events. */
export function importedRows(
  scope: RowScope,
  type: ContentType,
  rows: readonly StagedRow[],
): readonly ImportedRow[] {
  return inOrder(withDrafts(scope, onePerVersion(scope, rows))).map((row) => importedRow(scope, type, row));
}

type Row = Omit<StagedRow, 'id'> & { readonly id: number | undefined; readonly source: number };

/** Keeps the first of several rows with the same version and locale, because no request reaches the others. */
function onePerVersion({ notes }: RowScope, rows: readonly StagedRow[]): readonly Row[] {
  const seen = new Map<string, Row>();
  for (const row of rows) {
    const key = `${row.version} ${row.locale ?? ''}`;
    if (seen.has(key))
      notes.omitRow(row.type, 'another row has the same version and locale of the document', row.id);
    else seen.set(key, { ...row, source: row.id });
  }
  return [...seen.values()];
}

/** Adds a draft to each published row that has none. */
function withDrafts({ notes, draftId }: RowScope, rows: readonly Row[]): readonly Row[] {
  const isDrafted = (published: Row) =>
    rows.some(({ version, locale }) => version === 'draft' && locale === published.locale);
  return rows.flatMap((row) => {
    if (row.version !== 'published' || isDrafted(row)) return [row];
    notes.add(row.type, 'made a draft for a published row without one', `row ${row.source}`);
    return [{ ...row, version: 'draft', id: draftId?.(row.type, row.source) } as const, row];
  });
}

/** Sorts rows by locale. The draft is last if it was updated after the published version: Strapi shows such an entry as modified. */
function inOrder(rows: readonly Row[]): readonly Row[] {
  return rows.toSorted((a, b) => {
    const [left, right] = [a.locale ?? '', b.locale ?? ''];
    if (left !== right) return left < right ? -1 : 1;
    const updated = (version: Row['version']) =>
      timeOf((a.version === version ? a : b).data['updatedAt']) ?? '';
    const isModified = updated('draft') > updated('published');
    return (a.version === 'draft') === isModified ? 1 : -1;
  });
}

function importedRow(scope: RowScope, type: ContentType, row: Row): ImportedRow {
  const { documentId, locale, version, source, data } = row;
  noteOddTimes(scope, row);
  const createdAt = timeOf(data['createdAt']) ?? timeOf(data['updatedAt']) ?? NEVER;
  const updatedAt = timeOf(data['updatedAt']) ?? createdAt;
  const publishedAt = version === 'draft' ? null : (timeOf(data['publishedAt']) ?? createdAt);
  const targets = targetsByAttribute(scope.registry, scope.staging.linksOf(type.uid, source));
  const relations = [...targets]
    .filter(([attribute]) => ownsRelation(type, attribute))
    .map(([attribute, found]) => ({ attribute, targets: found }));
  const values = importedValues(scope, type, source, { ...data, id: source });
  const role = type.uid === USER_TYPE ? { role: roleOf(scope, source) } : {};
  return {
    type: type.uid,
    documentId,
    locale,
    version,
    ...defined({ id: row.id }),
    createdAt,
    updatedAt,
    publishedAt,
    values: { ...values, ...role },
    relations,
  };
}

const NEVER = '1970-01-01T00:00:00.000Z';

/** Returns an ISO 8601 time for a text or a number of milliseconds; undefined for other values, and for years of more than four digits. */
function timeOf(value: unknown): string | undefined {
  if (typeof value !== 'string' && typeof value !== 'number') return undefined;
  const time = new Date(value);
  if (Number.isNaN(time.getTime())) return undefined;
  const text = time.toISOString();
  return /^\d{4}-/.test(text) ? text : undefined;
}

function noteOddTimes({ notes }: RowScope, { type, source, data }: Row): void {
  for (const name of SYSTEM_TIMES) {
    const value = data[name];
    if (value === null || value === undefined || timeOf(value) !== undefined) continue;
    notes.add(`${type} ${name}`, 'not a time: replaced by another time of the row', `row ${source}`);
  }
}

/** Returns the number of a user's role. */
function roleOf({ staging, notes }: RowScope, user: number): number {
  const [link] = staging.linksOf(USER_TYPE, user).filter(({ attribute }) => attribute === 'role');
  if (link !== undefined) return roleNumber(staging, link.targetId);
  notes.add(USER_TYPE, 'the user has no role, and becomes Authenticated', `user ${user}`);
  return USER_ROLES.authenticated;
}
