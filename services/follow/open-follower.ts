import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { ContentGraph } from '../../projections/graph/content-graph.ts';
import type { AssetStore } from '../../shared/asset-store/asset-store.ts';
import { UPLOADS_PATH } from '../../shared/asset-store/served-names.ts';
import type { SchemaRegistry } from '../../shared/schema/schema-registry.ts';
import type { FileLibrary } from '../assets/file-library.ts';
import type { ImportWriter } from '../command/import-writer.ts';
import { NotLeading } from '../command/not-leading.ts';
import type { Fleet } from '../fleet/fleet.ts';
import { importArchive } from '../strapi/import-archive.ts';
import { importAsset } from '../strapi/import-asset.ts';
import { createImportNotes } from '../strapi/import-notes.ts';
import { openFirstCopy } from './first-copy.ts';
import type { FollowWriter } from './follow-writer.ts';
import { createFollower, type Follower, type FollowReport } from './follower.ts';
import { createReconciliation } from './reconcile.ts';
import { createRestSource, typesOf } from './rest-source.ts';
import type { SourceRow } from './source.ts';
import { createStrapiHttp } from './strapi-http.ts';
import { createDocumentCopier } from './write-documents.ts';

/** Settings of the Strapi to follow. */
export type FollowOptions = {
  readonly url: string;
  readonly prefix: string;
  readonly token: string | undefined;
  /** Archive that is imported first. */
  readonly from: string | undefined;
  readonly intervalMs: number;
  readonly rate: number;
  /** Share of the stored rows, from 0 to 1, that one pass may delete. */
  readonly mostGone: number;
  readonly report: (what: FollowReport) => void;
};

export type OpenFollowerOptions = {
  readonly follow: FollowOptions;
  readonly registry: SchemaRegistry;
  readonly defaultLocale: string;
  readonly space: string;
  readonly graph: ContentGraph;
  readonly imports: ImportWriter;
  readonly writer: FollowWriter;
  readonly assets: AssetStore;
  readonly library: Pick<FileLibrary, 'keepNamed' | 'forgetNames'>;
  readonly fleet: Pick<Fleet, 'epoch' | 'changed' | 'leader'>;
  /** Folder for temporary files of this process. */
  readonly scratch: string;
};

/** Follows a Strapi through its REST API. `isCopying` returns whether this process makes the first copy, or will. */
export function openFollower(options: OpenFollowerOptions): Follower & { readonly isCopying: () => boolean } {
  const { follow, registry, graph, fleet, defaultLocale } = options;
  const source = createRestSource(createStrapiHttp(follow), registry, defaultLocale);
  const { entries } = graph.reader;
  const { recorded } = graph;
  const firstCopy = openFirstCopy(join(options.scratch, 'first-copy.json'), () => graph.size().rows === 0);
  const take = createFileTaker(options, source.content);
  const writer = createDocumentCopier({
    registry,
    source,
    entries,
    recorded,
    writer: options.writer,
    notes: createImportNotes(),
    takeFile: take,
    dropFile: options.library.forgetNames,
  });
  const follower = createFollower({
    ...follow,
    writer,
    reconciliation: (of) =>
      createReconciliation({
        registry,
        types: typesOf(registry),
        source,
        entries,
        recorded,
        mostGone: follow.mostGone,
        ...of,
      }),
    async begin() {
      const locale = await source.defaultLocale();
      if (locale !== undefined && locale !== defaultLocale)
        throw new Error(
          `the default locale of Strapi is ${locale}, and that of this server ${defaultLocale}: pass --default-locale ${locale}`,
        );
      const epoch = fleet.epoch();
      if (epoch === undefined) throw new NotLeading();
      if (firstCopy.begin(epoch) !== 'import') return;
      if (follow.from !== undefined) await importFirst(options, follow.from);
      firstCopy.enter('copy');
    },
    firstCopy,
    requests: source.requests,
    isLeading: () => fleet.epoch() !== undefined,
    leadChanged: fleet.changed,
  });
  const isCopying = () => firstCopy.phase() !== 'done' && fleet.leader().kind !== 'elsewhere';
  return { ...follower, isCopying };
}

/** Imports an archive before Strapi is read: only the archive has the passwords. */
async function importFirst(options: OpenFollowerOptions, file: string): Promise<void> {
  const { registry, defaultLocale, space, imports, graph, assets, library, scratch } = options;
  const stagingFile = join(scratch, 'followed-archive.db');
  const remove = () => {
    for (const end of ['', '-wal', '-shm']) rmSync(`${stagingFile}${end}`, { force: true });
  };
  remove();
  try {
    await importArchive({
      file,
      registry,
      defaultLocale,
      space,
      stagingFile,
      graph: graph.reader,
      epoch: imports.epoch(),
      write: imports.write,
      takeAsset: (asset) => importAsset(assets, asset, library.keepNamed),
      // People sign in at Strapi while it is followed.
      defineRoles: async () => {},
      roleDrafts: [],
      onBytes: () => {},
      onDocuments: () => {},
    });
  } finally {
    remove();
  }
}

/** Stores the contents of a file under their names in Strapi. Contents at another upload provider are not copied. */
function createFileTaker(
  { assets, library, follow }: OpenFollowerOptions,
  content: (path: string) => AsyncIterable<Buffer>,
): (row: SourceRow) => Promise<void> {
  return async ({ data }) => {
    const formats = Object.values((data['formats'] ?? {}) as { readonly [name: string]: unknown });
    for (const picture of [data, ...formats]) {
      const path = uploadPath((picture as { readonly url?: unknown } | null)?.url, follow.url);
      if (path === undefined) continue;
      await importAsset(assets, { name: path, size: 0, content: content(path) }, library.keepNamed);
    }
  };
}

/** Returns the path of a file that Strapi serves itself; undefined for any other address. */
export function uploadPath(url: unknown, base: string): string | undefined {
  if (typeof url !== 'string' || !URL.canParse(url, base)) return undefined;
  const parsed = new URL(url, base);
  const isThere = parsed.origin === new URL(base).origin && parsed.pathname.startsWith(UPLOADS_PATH);
  const name = parsed.pathname.slice(UPLOADS_PATH.length);
  return isThere && /^[^/]+$/.test(name) ? `${UPLOADS_PATH}${name}` : undefined;
}
