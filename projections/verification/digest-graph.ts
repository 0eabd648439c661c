import { createHash } from 'node:crypto';
import type { Database } from '../../shared/sqlite/database.ts';
import { type GraphRow, graphTables, rowsOfTable } from './graph-tables.ts';

/** What a graph holds, as a count and a digest for each table. */
export type GraphDigest = {
  readonly [table: string]: { readonly rows: number; readonly sha256: string };
};

/** Digests of all that follows from the log, in order of the tables' keys: equal graphs have equal ones, whatever their files. */
export function digestGraph(db: Database): GraphDigest {
  return Object.fromEntries(
    graphTables(db).map((table) => {
      const sum = createHash('sha256');
      let rows = 0;
      for (const row of rowsOfTable(db, table)) {
        rows++;
        sum.update(rowText(row));
      }
      return [table.name, { rows, sha256: sum.digest('hex') }];
    }),
  );
}

function rowText(row: GraphRow): string {
  const values = row.map((value) =>
    value instanceof Uint8Array ? { bytes: Buffer.from(value).toString('base64') } : value,
  );
  return `${JSON.stringify(values)}\n`;
}
