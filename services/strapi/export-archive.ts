import { renameSync, rmSync } from 'node:fs';
import type { Readable } from 'node:stream';
import type { ContentGraph } from '../../projections/graph/content-graph.ts';
import type { LoginState } from '../../shared/access/login-state.ts';
import type { Rights } from '../../shared/access/rights.ts';
import { isHash } from '../../shared/asset-store/asset-hash.ts';
import type { AssetStore } from '../../shared/asset-store/asset-store.ts';
import { nameInSpace, servedName } from '../../shared/asset-store/served-names.ts';
import type { Entry } from '../../shared/document/entry.ts';
import { USER_ROLES } from '../../shared/schema/built-in-types.ts';
import { FILE_TYPE, USER_TYPE } from '../../shared/schema/content-type.ts';
import { contentTypeOf } from '../../shared/schema/schema-registry.ts';
import type { TypeDefinition } from '../../shared/schema/type-definitions.ts';
import { schemeOf } from '../command/password-hashes.ts';
import { type ArchiveWriter, openArchiveWriter, openLinesFile } from './archive-writer.ts';
import { exportedLink, type KnownRow } from './exported-link.ts';
import { exportedPlugins } from './exported-plugins.ts';
import { type ExportedRow, exportedRow } from './exported-row.ts';
import { exportedSchemas } from './exported-schemas.ts';

export type ArchiveExport = {
  readonly file: string;
  /** Folder for growing files. */
  readonly scratch: string;
  readonly graph: Pick<ContentGraph, 'readAll' | 'reader' | 'registry'>;
  readonly definitions: readonly TypeDefinition[];
  readonly publicRights: Rights;
  readonly login: LoginState;
  /** Undefined if no file was ever uploaded. */
  readonly assets: AssetStore | undefined;
  readonly space: string;
  readonly at: string;
  readonly version: string;
};

export type ExportSummary = {
  readonly rows: number;
  readonly links: number;
  readonly files: number;
  /** Names of users whose password Strapi cannot check, because it is not hashed with bcrypt. */
  readonly passwords: readonly string[];
  /** URLs of files whose content is not stored here. */
  readonly missing: readonly string[];
};

/** Row of a file. `content` is the hash of its content in the asset store. */
type ExportedFile = ExportedRow & { readonly content: string };

const ENTITIES = 'entities/entities_00001.jsonl';
const LINKS = 'links/links_00001.jsonl';

/** Writes an archive of all content for `strapi import`. */
export async function exportArchive(options: ArchiveExport): Promise<ExportSummary> {
  const part = `${options.file}.part`;
  rmSync(part, { force: true });
  const writer = openArchiveWriter(part);
  const lines = (values: readonly object[]) => values.map((value) => `${JSON.stringify(value)}\n`).join('');
  await writer.add('schemas/schemas_00001.jsonl', lines(exportedSchemas(options.definitions)));
  const found = await writeContent(options);
  await writer.addFile(ENTITIES, found.entities);
  const missing: string[] = [];
  let files = 0;
  for (const row of found.files) files += await writePictures(options, writer, row, missing);
  await writer.addFile(LINKS, found.links);
  await writer.add('configuration/configuration_00001.jsonl', lines(found.configuration));
  const metadata = { createdAt: options.at, strapi: { version: options.version } };
  await writer.add('metadata.json', JSON.stringify(metadata, null, 2));
  await writer.end();
  renameSync(part, options.file);
  return { ...found.counts, files, passwords: found.passwords, missing };
}

/** Facts about rows that an export collects. */
type Found = {
  readonly known: Map<number, KnownRow>;
  readonly roles: Map<number, number>;
  readonly locales: Set<string>;
  readonly files: ExportedFile[];
  readonly passwords: string[];
};

/** Writes rows and links to files in the scratch folder. */
async function writeContent({ graph, scratch, definitions, publicRights, login, at }: ArchiveExport) {
  const registry = graph.registry();
  const [entities, links] = [openLinesFile(scratch, 'entities'), openLinesFile(scratch, 'links')];
  const found: Found = { known: new Map(), roles: new Map(), locales: new Set(), files: [], passwords: [] };
  const counts = { rows: 0, links: 0 };
  for (const { key, type, documentId } of rowsInOrder(graph, found.known)) {
    const entry = graph.reader.entries(type, documentId).find((row) => row.key === key);
    if (entry === undefined) continue;
    const row = exportedRow(registry, contentTypeOf(registry, type), entry);
    noteRow(found, entry, row);
    await entities.write(row);
    counts.rows++;
  }
  for (const batch of graph.readAll()) {
    for (const change of batch.links) {
      const link = exportedLink(registry, found.known, change);
      if (link === undefined) continue;
      await links.write(link);
      counts.links++;
    }
  }
  const defaultLocale = definitions.at(-1)?.defaultLocale ?? 'en';
  const plugins = exportedPlugins({ ...found, defaultLocale, publicRights, login, at });
  for (const row of plugins.entities) await entities.write(row);
  for (const link of plugins.links) await links.write(link);
  await Promise.all([entities.end(), links.end()]);
  const { configuration } = plugins;
  return { ...found, entities: entities.file, links: links.file, counts, configuration };
}

type OrderedRow = KnownRow & { readonly key: number; readonly documentId: string };

/** Returns the rows by type and id: Strapi assigns new ids in an archive's order, and shows lists in the order of ids. */
function rowsInOrder(graph: ArchiveExport['graph'], known: Map<number, KnownRow>): readonly OrderedRow[] {
  const rows: OrderedRow[] = [];
  for (const batch of graph.readAll()) {
    for (const { key, type, row } of batch.rows) {
      if (row === null) continue;
      const { id, documentId } = row.fields;
      known.set(key, { type, id: Number(id) });
      rows.push({ key, type, id: Number(id), documentId: String(documentId) });
    }
  }
  return rows.sort((a, b) => (a.type === b.type ? a.id - b.id : a.type < b.type ? -1 : 1));
}

function noteRow({ roles, locales, files, passwords }: Found, entry: Entry, row: ExportedRow): void {
  const { type, id, locale, values } = entry;
  if (locale !== null) locales.add(locale);
  if (type === FILE_TYPE) files.push({ ...row, content: String(values['hash']) });
  if (type !== USER_TYPE) return;
  roles.set(id, Number(values['role'] ?? USER_ROLES.authenticated));
  const { username, password } = values;
  if (typeof password === 'string' && schemeOf(password) !== 'bcrypt') passwords.push(String(username));
}

/** Writes a file and the smaller pictures made of it, if they are stored here. Returns their number. */
async function writePictures(
  { assets, space }: ArchiveExport,
  writer: ArchiveWriter,
  { id, data, content }: ExportedFile,
  missing: string[],
): Promise<number> {
  const formats = Object.entries((data['formats'] ?? {}) as { readonly [format: string]: object });
  const main = { metadata: { id, ...data }, url: data['url'] };
  const smaller = formats.map(([type, format]) => ({
    metadata: { ...format, type, id, mainHash: data['hash'] },
    url: (format as { readonly url?: unknown }).url,
  }));
  let written = 0;
  for (const { metadata, url } of [main, ...smaller]) {
    const name = servedName(url);
    if (name === undefined) continue;
    const named = (await assets?.names.find(nameInSpace(space, name)))?.hash;
    const hash = named ?? (url === main.url && isHash(content) ? content : undefined);
    const opened = hash === undefined ? undefined : await assets?.open(hash);
    if (opened === undefined) missing.push(String(url));
    else {
      await writer.addContent(`assets/uploads/${name}`, opened.size, opened.content as Readable);
      // Strapi ignores the digest. An import into Varve compares it with the bytes.
      await writer.add(`assets/metadata/${name}.json`, JSON.stringify({ ...metadata, sha256: hash }));
      written++;
    }
  }
  return written;
}
