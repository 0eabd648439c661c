import path from 'node:path';
import type { LoginConfigured, RoleDefined } from '../../shared/access/login-events.ts';
import type { ContentGraphReader } from '../../shared/document/entry.ts';
import { FILE_TYPE } from '../../shared/schema/content-type.ts';
import type { SchemaRegistry } from '../../shared/schema/schema-registry.ts';
import type { DocumentImport, ImportedDocument } from '../transfer/import-documents.ts';
import { inBatches } from '../transfer/import-lines.ts';
import type { ArchiveFile } from './archive.ts';
import { archivedDocument } from './archived-document.ts';
import { archivedLogin } from './archived-login.ts';
import { archivedRights } from './archived-rights.ts';
import { createImportNotes, type ImportNote, type ImportNotes } from './import-notes.ts';
import { stageArchive } from './stage-archive.ts';
import { openStaging, type StagedRow, type Staging } from './staging.ts';

export type ArchiveImport = Pick<
  DocumentImport,
  'registry' | 'defaultLocale' | 'space' | 'epoch' | 'write'
> & {
  readonly file: string;
  readonly key?: string | undefined;
  /** File for staging the archive; removed by the caller. */
  readonly stagingFile: string;
  /** Content that was stored before the import. */
  readonly graph: Pick<ContentGraphReader, 'documentOfId' | 'streamRevision'>;
  /** Stores the roles and the settings of the login. */
  readonly defineRoles: DefineRoles;
  /** Types of the roles that may see drafts. */
  readonly roleDrafts: readonly string[];
  /** Stores a file of the archive under its name in Strapi. */
  readonly takeAsset: (file: ArchiveFile) => Promise<void>;
  readonly onBytes: (bytes: number) => void;
  readonly onDocuments: (documents: number, total: number) => void;
};

export type DefineRoles = (
  roles: readonly RoleDefined['data'][],
  login: LoginConfigured['data'],
) => Promise<unknown>;

export type ArchiveSummary = {
  readonly strapi: string | undefined;
  /** Rows and links of the archive. */
  readonly lines: number;
  /** Number of imported rows, by type. */
  readonly rows: { readonly [type: string]: number };
  readonly documents: number;
  /** Documents of these that an earlier import had written already. */
  readonly known: number;
  /** Files of the media library, including smaller pictures. */
  readonly assets: number;
  /** Rights of each role on the served types, by the role's type, in the form of `--public` and `--allow`. */
  readonly roles: { readonly [role: string]: readonly string[] };
  /** Types of the roles that see drafts in Strapi, but not in Varve. */
  readonly losingDrafts: readonly string[];
  /** Differences from the archive, and omissions. */
  readonly notes: readonly ImportNote[];
  /** Documents that were not written, with their reasons. */
  readonly refused: readonly string[];
};

/** Appends in flight at the same time. They share commits. */
const BATCH = 512;

/**
 * Reads an archive that `strapi export` wrote, and appends its documents with their rows unchanged. Ids of events are derived from their
 * content, so existing events are not written again.
 */
export async function importArchive(options: ArchiveImport): Promise<ArchiveSummary> {
  const { file, key, onBytes, registry, stagingFile } = options;
  const staging = openStaging(stagingFile);
  const notes = createImportNotes();
  try {
    const archive = { file, key, onBytes };
    let assets = 0;
    const taken = new Set<string>();
    const onAsset = async (asset: ArchiveFile) => {
      assets++;
      taken.add(path.posix.basename(asset.name));
      await options.takeAsset(asset);
    };
    const staged = await stageArchive({ ...options, archive, staging, notes, onAsset });
    const { version: strapi, lines, settings } = staged;
    const total = staging.settle();
    const rows: Record<string, number> = {};
    const refused: string[] = [];
    let documents = 0;
    let known = 0;
    const scope = { registry, staging, notes, space: options.space, epoch: options.epoch };
    for await (const batch of inBatches(served(staging, registry), BATCH)) {
      await Promise.all(
        batch.map(async (archived) => {
          noteMissingBytes(archived, taken, notes);
          const document = archivedDocument(scope, archived);
          const { type, documentId } = document;
          const isKnown = options.graph.streamRevision(type, documentId) !== undefined;
          const reasons = takenIds(options, document) ?? (await options.write(document));
          refused.push(...reasons.map((reason) => `${type} ${documentId}: ${reason}`));
          if (reasons.length > 0) return;
          rows[type] = (rows[type] ?? 0) + document.events.length;
          documents++;
          if (isKnown) known++;
        }),
      );
      options.onDocuments(documents, total);
    }
    for (const { attribute, count } of staging.danglingLinks())
      notes.add(attribute, 'omitted: the archive does not have the target', undefined, count);
    const roles = archivedRights(staging, registry);
    const { losingDrafts, ...found } = archivedLogin({ ...options, staging, settings, notes });
    await options.defineRoles(found.roles, found.login);
    const counts = { strapi, lines, rows, documents, known, assets };
    return { ...counts, roles, losingDrafts, notes: notes.list(), refused };
  } finally {
    staging.close();
  }
}

async function* served({ documents }: Staging, { contentTypes }: SchemaRegistry) {
  for (const rows of documents()) if (contentTypes.has(rows[0]?.type ?? '')) yield rows;
}

/** Notes each file whose bytes the archive lacks, as after `strapi export --only content`. Other upload providers still have the bytes. */
function noteMissingBytes(rows: readonly StagedRow[], taken: ReadonlySet<string>, notes: ImportNotes): void {
  for (const { type, data } of rows) {
    const url = String(data['url']);
    if (type !== FILE_TYPE || !url.startsWith('/') || taken.has(path.posix.basename(url))) continue;
    notes.add(type, 'stored without its bytes: the archive does not have them', url);
  }
}

/** Returns problems for ids that belong to another document; undefined if there are none. An id belongs to one document forever. */
function takenIds(
  { graph }: ArchiveImport,
  { type, documentId, events }: ImportedDocument,
): readonly string[] | undefined {
  const ids = events.flatMap(({ data }) => (data as { readonly id?: number }).id ?? []);
  const taken = ids.filter((id) => {
    const owner = graph.documentOfId(type, id);
    return owner !== undefined && owner.documentId !== documentId;
  });
  if (taken.length === 0) return undefined;
  return taken.map((id) => `the id ${id} already belongs to ${graph.documentOfId(type, id)?.documentId}`);
}
