import type { DatabaseSync, StatementSync } from 'node:sqlite';

/** An open SQLite file: one synchronous connection. The driver's own names are used only in shared/sqlite. */
export type Database = DatabaseSync;
export type Statement = StatementSync;
