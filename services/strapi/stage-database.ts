import { closeSync, createReadStream, lstatSync, openSync, readSync, statSync } from 'node:fs';
import path from 'node:path';
import { servedName } from '../../shared/asset-store/served-names.ts';
import { valueOfJson } from '../../shared/json.ts';
import { isRecord } from '../../shared/json-record.ts';
import { FILE_TYPE } from '../../shared/schema/content-type.ts';
import type { SchemaRegistry } from '../../shared/schema/schema-registry.ts';
import { lookAtDatabase } from '../../shared/sqlite/look-at-database.ts';
import type { ArchiveFile } from './archive.ts';
import type { AssetChecks } from './asset-checks.ts';
import { databaseLinks } from './database-links.ts';
import { databaseRows } from './database-rows.ts';
import type { ImportNotes } from './import-notes.ts';
import { noteMissingTables } from './note-missing-tables.ts';
import type { ArchiveFacts } from './stage-archive.ts';
import { STAGED_TYPES, type Stager } from './stager.ts';
import {
  type CollectionNames,
  openStrapiTables,
  SETTINGS_TABLE,
  type StrapiTables,
} from './strapi-tables.ts';

/** Facts about a project that its database does not have. */
export type DatabaseSource = {
  readonly collections: CollectionNames;
  /** Folder of the uploads. Its files are imported. */
  readonly uploads?: string | undefined;
};

export type StageDatabaseOptions = DatabaseSource & {
  readonly file: string;
  readonly registry: SchemaRegistry;
  readonly stager: Stager;
  readonly checks: AssetChecks;
  readonly notes: Pick<ImportNotes, 'add'>;
  readonly onAsset: (file: ArchiveFile) => Promise<void>;
};

const MARK = 'SQLite format 3\0';

/** Returns whether a file is a SQLite database, by its first bytes. */
export function isDatabase(file: string): boolean {
  if (statSync(file, { throwIfNoEntry: false })?.isFile() !== true) return false;
  const head = Buffer.alloc(MARK.length);
  const descriptor = openSync(file, 'r');
  try {
    readSync(descriptor, head);
  } finally {
    closeSync(descriptor);
  }
  return head.toString('latin1') === MARK;
}

/** Returns whether an argument is the address of a PostgreSQL database. */
export function isPostgresUrl(text: string): boolean {
  return /^postgres(ql)?:\/\//i.test(text);
}

/** Reads the SQLite database of a Strapi 4 or 5 into the staging file, at one moment, and changes nothing. Strapi may run. */
export async function stageDatabase(options: StageDatabaseOptions): Promise<ArchiveFacts> {
  const { file, registry, stager } = options;
  const { connection, close } = lookAtDatabase(file, true);
  try {
    connection.exec('BEGIN');
    const tables = openStrapiTables(connection, options.collections);
    if (tables.find([SETTINGS_TABLE]) === undefined)
      throw new Error(`${file} is not a database of Strapi: it has no table ${SETTINGS_TABLE}`);
    const scope = { registry, tables, notes: options.notes };
    noteMissingTables(scope);
    for (const setting of tables.rows(SETTINGS_TABLE, ['id']))
      stager.setting({
        value: { key: String(setting['key']), value: valueOfJson(String(setting['value'])) },
      });
    for (const uid of [...registry.contentTypes.keys(), ...STAGED_TYPES]) {
      if (tables.ofModel(uid) === undefined)
        options.notes.add(uid, 'has no rows: the database has no table of this type');
      for (const entity of databaseRows(scope, uid)) {
        stager.row(entity);
        if (uid === FILE_TYPE) await takeFiles(options, entity.data);
      }
    }
    for (const link of databaseLinks(scope)) stager.link(link);
    return { version: versionOf(tables) };
  } finally {
    close();
  }
}

function versionOf(tables: StrapiTables): string {
  return tables.columns('files').includes('document_id') ? '5' : '4';
}

/** Takes the content of a file and of the smaller pictures made of it, if they are in the folder of the uploads. */
async function takeFiles(
  { uploads, checks, onAsset }: StageDatabaseOptions,
  data: { readonly [name: string]: unknown },
): Promise<void> {
  if (uploads === undefined) return;
  const formats = isRecord(data['formats']) ? Object.values(data['formats']) : [];
  const urls = [data['url'], ...formats.map((format) => (isRecord(format) ? format['url'] : undefined))];
  for (const url of urls) {
    const name = servedName(url);
    // A name with a folder, or a symbolic link, could name any file of the machine, and files are served.
    if (name === undefined || name !== path.basename(name)) continue;
    const location = path.join(uploads, name);
    const about = lstatSync(location, { throwIfNoEntry: false });
    if (about?.isFile() !== true) continue;
    const file = { name: `assets/uploads/${name}`, size: about.size, content: bytesOf(location) };
    await onAsset(checks.read(file));
  }
}

/** Opens the file when its content is read. */
async function* bytesOf(file: string): AsyncGenerator<Buffer> {
  yield* createReadStream(file) as AsyncIterable<Buffer>;
}
