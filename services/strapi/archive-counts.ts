import type { ImportNotes } from './import-notes.ts';
import { STAGED_TYPES } from './stager.ts';
import type { Staging } from './staging.ts';

/** Counts of a type's rows. Each row that was read is either stored or omitted for a reason. */
export type RowCounts = {
  readonly read: number;
  readonly stored: number;
  readonly omitted: { readonly [reason: string]: number };
};

export type CountOptions = {
  /** Rows in the source, by type. */
  readonly read: ReadonlyMap<string, number>;
  /** Rows of these that were stored, by type. */
  readonly stored: ReadonlyMap<string, number>;
  readonly staging: Pick<Staging, 'rowsOf'>;
  readonly notes: ImportNotes;
};

export type RowCountsByType = { readonly [type: string]: RowCounts };

/** Returns the counts of each type in the source, in its order. */
export function archiveCounts({ read, stored, staging, notes }: CountOptions): RowCountsByType {
  const counts = [...read].map(([type, count]) => {
    const kept = STAGED_TYPES.includes(type) ? staging.rowsOf(type).length : (stored.get(type) ?? 0);
    return [type, { read: count, stored: kept, omitted: notes.omittedRows(type) }] as const;
  });
  return Object.fromEntries(counts);
}

/** Returns a sentence for each type of which rows are missing without a reason: an error of the import itself. */
export function missingRows(counts: RowCountsByType): readonly string[] {
  return Object.entries(counts).flatMap(([type, { read, stored, omitted }]) => {
    const missing = read - stored - Object.values(omitted).reduce((sum, count) => sum + count, 0);
    if (missing === 0) return [];
    return [`${type}: ${read} rows were read, and ${stored} stored: ${missing} are missing without a reason`];
  });
}
