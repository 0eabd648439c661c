import { isRecord } from '../../shared/json-record.ts';
import {
  type Archive,
  type ArchiveFile,
  archiveFiles,
  type LineShape,
  readJsonFile,
  readJsonLines,
} from './archive.ts';
import { archivePartOf, METADATA } from './archive-names.ts';
import type { AssetChecks } from './asset-checks.ts';
import type { Entity, Link, Stager, StrapiSetting } from './stager.ts';

export type StageOptions = {
  readonly archive: Archive;
  readonly stager: Stager;
  readonly checks: AssetChecks;
  /** Stores a file of the media library. */
  readonly onAsset: (file: ArchiveFile) => Promise<void>;
};

/** Facts about an archive besides its rows and links. */
export type ArchiveFacts = { readonly version: string | undefined };

const ENTITY: LineShape<Entity> = {
  name: 'a row with `type`, `id` and `data`',
  fits: (line): line is Entity =>
    isRecord(line) &&
    typeof line['type'] === 'string' &&
    line['type'] !== '' &&
    Number.isSafeInteger(line['id']) &&
    isRecord(line['data']),
};
const LINK: LineShape<Link> = {
  name: 'a link with `left` and `right`',
  fits: (line): line is Link => isRecord(line) && isRecord(line['left']) && isRecord(line['right']),
};
const SETTING: LineShape<StrapiSetting> = {
  name: 'a setting',
  fits: (line): line is StrapiSetting => isRecord(line),
};

/** Reads an archive once, from its beginning to its end, into the staging file. */
export async function stageArchive({
  archive,
  stager,
  checks,
  onAsset,
}: StageOptions): Promise<ArchiveFacts> {
  let version: string | undefined;
  const readers: { readonly [part: string]: (file: ArchiveFile) => Promise<void> } = {
    entities: async (file) => {
      for await (const row of readJsonLines(file, ENTITY)) stager.row(row);
    },
    links: async (file) => {
      for await (const link of readJsonLines(file, LINK)) stager.link(link);
    },
    configuration: async (file) => {
      for await (const setting of readJsonLines(file, SETTING)) stager.setting(setting);
    },
    'assets/metadata': async (file) => checks.described(await readJsonFile(file)),
    'assets/uploads': (file) => onAsset(checks.read(file)),
  };
  for await (const file of archiveFiles(archive)) {
    if (file.name === METADATA) version = versionIn(await readJsonFile(file));
    else await readers[archivePartOf(file.name)]?.(file);
  }
  return { version };
}

function versionIn(metadata: unknown): string | undefined {
  const strapi = isRecord(metadata) ? metadata['strapi'] : undefined;
  const version = isRecord(strapi) ? strapi['version'] : undefined;
  return typeof version === 'string' ? version : undefined;
}
