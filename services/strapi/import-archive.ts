import type { LoginConfigured, RoleDefined } from '../../shared/access/login-events.ts';
import type { ContentGraphReader } from '../../shared/document/entry.ts';
import { valueAt } from '../../shared/map-values.ts';
import { FILE_TYPE } from '../../shared/schema/content-type.ts';
import type { SchemaRegistry } from '../../shared/schema/schema-registry.ts';
import type { DocumentImport, ImportedDocument } from '../transfer/import-documents.ts';
import { inBatches } from '../transfer/import-lines.ts';
import type { ArchiveFile } from './archive.ts';
import { archiveCounts, missingRows, type RowCountsByType } from './archive-counts.ts';
import { archivedDocument } from './archived-document.ts';
import { archivedLogin } from './archived-login.ts';
import { archivedRights } from './archived-rights.ts';
import { archivedText } from './archived-text.ts';
import { type AssetChecks, createAssetChecks } from './asset-checks.ts';
import { createImportNotes, type ImportNote, type ImportNotes } from './import-notes.ts';
import { stageArchive } from './stage-archive.ts';
import { type DatabaseSource, stageDatabase } from './stage-database.ts';
import { createStager } from './stager.ts';
import { openStaging, type StagedRow, type Staging } from './staging.ts';

export type ArchiveImport = Pick<
  DocumentImport,
  'registry' | 'defaultLocale' | 'space' | 'epoch' | 'write'
> & {
  readonly file: string;
  readonly key?: string | undefined;
  /** Given if the file is Strapi's database, not an archive. */
  readonly database?: DatabaseSource | undefined;
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
  /** Rows that were read, stored and omitted, by type. */
  readonly rows: RowCountsByType;
  readonly links: { readonly read: number; readonly stored: number };
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
  /** Files whose bytes differ from what the archive says about them, and types of which rows are missing without a reason. */
  readonly mismatches: readonly string[];
};

/** Appends in flight at the same time. They share commits. */
const BATCH = 512;

/**
 * Reads an archive that `strapi export` wrote, or Strapi's SQLite database, and appends its documents with their rows unchanged. Ids of events are derived from their
 * content, so existing events are not written again.
 */
export async function importArchive(options: ArchiveImport): Promise<ArchiveSummary> {
  const { file, key, onBytes, registry, defaultLocale, stagingFile } = options;
  const staging = openStaging(stagingFile);
  const notes = createImportNotes();
  const checks = createAssetChecks();
  try {
    const stager = createStager({ registry, defaultLocale, staging, notes });
    let assets = 0;
    const onAsset = async (asset: ArchiveFile) => {
      assets++;
      await options.takeAsset(asset);
    };
    const into = { stager, checks, onAsset };
    const { version: strapi } =
      options.database === undefined
        ? await stageArchive({ archive: { file, key, onBytes }, ...into })
        : await stageDatabase({ ...options.database, file, registry, notes, ...into });
    const written = await writeDocuments(options, { staging, notes, checks });
    const { refused, stored, ...counts } = written;
    const roles = archivedRights(staging, registry);
    const found = archivedLogin({ ...options, staging, settings: stager.settings(), notes });
    const { losingDrafts } = found;
    await options.defineRoles(found.roles, found.login);
    const read = stager.counts();
    const rows = archiveCounts({ read: read.rows, stored, staging, notes });
    const links = { read: read.links, stored: staging.countLinks() };
    const lines = read.links + Object.values(rows).reduce((sum, each) => sum + each.read, 0);
    const mismatches = [...checks.problems(), ...missingRows(rows)];
    const parts = { strapi, lines, rows, links, assets, ...counts };
    return { ...parts, roles, losingDrafts, notes: notes.list(), refused, mismatches };
  } finally {
    staging.close();
  }
}

type Staged = { readonly staging: Staging; readonly notes: ImportNotes; readonly checks: AssetChecks };

/** Writes the documents of the staging file. `stored`: rows of the archive that were written, by type. */
async function writeDocuments(options: ArchiveImport, { staging, notes, checks }: Staged) {
  const { registry, space, epoch } = options;
  const total = staging.settle((type, id) =>
    notes.add(type, 'is a document of its own: a joined row has its locale and version', `row ${id}`),
  );
  const scope = { registry, staging, notes, space, epoch, draftId: createDraftIds(staging) };
  const stored = new Map<string, number>();
  const refused: string[] = [];
  let documents = 0;
  let known = 0;
  for await (const batch of inBatches(served(staging, registry), BATCH)) {
    await Promise.all(
      batch.map(async (archived) => {
        noteFiles(archived, checks, notes);
        const document = archivedDocument(scope, archived);
        const { type, documentId, events } = document;
        const isKnown = options.graph.streamRevision(type, documentId) !== undefined;
        const reasons = takenIds(options, document) ?? (await options.write(document));
        refused.push(...reasons.map((reason) => `${type} ${documentId}: ${reason}`));
        const own = new Set<number | undefined>(archived.map(({ id }) => id));
        const rows = events.filter(({ data }) => own.has((data as { readonly id?: number }).id));
        if (reasons.length > 0) {
          for (const _ of rows) notes.omitRow(type, 'the document is refused');
          return;
        }
        stored.set(type, (stored.get(type) ?? 0) + rows.length);
        documents++;
        if (isKnown) known++;
      }),
    );
    options.onDocuments(documents, total);
  }
  for (const { attribute, count } of staging.danglingLinks())
    notes.add(attribute, 'omitted: the archive does not have the target', undefined, count);
  return { documents, known, refused, stored };
}

/**
 * Returns a function for the ids of drafts that the archive does not have: the next power of ten above all ids of the type, and the id of
 * the published row. So no draft takes the id of a row that is imported later, and a repeated import gives the same ids.
 */
function createDraftIds(staging: Pick<Staging, 'largestId'>) {
  const offsets = new Map<string, number>();
  return (type: string, publishedId: number): number | undefined => {
    const offset = valueAt(offsets, type, () => 10 ** String(staging.largestId(type)).length);
    const id = offset + publishedId;
    return Number.isSafeInteger(id) && publishedId > 0 ? id : undefined;
  };
}

async function* served({ documents }: Staging, { contentTypes }: SchemaRegistry) {
  for (const rows of documents()) if (contentTypes.has(rows[0]?.type ?? '')) yield rows;
}

/**
 * Tells the checks what rows say about files. Notes each file whose bytes the archive lacks, as after `strapi export --only content`. Other
 * upload providers still have the bytes.
 */
function noteFiles(rows: readonly StagedRow[], checks: AssetChecks, notes: ImportNotes): void {
  for (const { type, data } of rows) {
    if (type !== FILE_TYPE) continue;
    checks.described(data);
    const url = archivedText(data['url']);
    if (!url.startsWith('/') || checks.has(url)) continue;
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
