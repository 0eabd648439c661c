import { createHash } from 'node:crypto';
import path from 'node:path';
import { servedName } from '../../shared/asset-store/served-names.ts';
import { isRecord } from '../../shared/json-record.ts';
import type { ArchiveFile } from './archive.ts';

/** Compares the bytes of an archive's files with what the archive says about them. */
export type AssetChecks = {
  /** Returns the file. Its bytes are counted when its content is read. */
  read(file: ArchiveFile): ArchiveFile;
  /** Takes the metadata of a file: a row of the media library, a smaller picture of one, or a member of `assets/metadata`. */
  described(metadata: unknown): void;
  /** Returns whether the archive has the bytes of a URL. */
  has(url: string): boolean;
  /** Returns a sentence for each file whose size or digest differs. */
  problems(): readonly string[];
};

type Found = { readonly size: number; readonly sha256: string };

/** Numbers that Strapi, or an earlier release of it, may have rounded a size in kilobytes to. */
const KILOBYTES = [1000, 1024];
const ROUNDED = 0.0051;

/** Creates the checks of one archive. */
export function createAssetChecks(): AssetChecks {
  const found = new Map<string, Found>();
  const said = new Map<string, Record<string, unknown>>();
  return {
    read: (file) => ({ ...file, content: measured(file, found) }),
    described(metadata) {
      for (const each of [metadata, ...formatsOf(metadata)]) {
        const name = isRecord(each) ? servedName(each['url']) : undefined;
        if (name !== undefined) said.set(name, { ...said.get(name), ...(each as object) });
      }
    },
    has: (url) => found.has(path.posix.basename(url)),
    problems: () =>
      [...said].flatMap(([name, metadata]) => {
        const file = found.get(name);
        return file === undefined
          ? []
          : differences(metadata, file).map((each) => `/uploads/${name}: ${each}`);
      }),
  };
}

function formatsOf(metadata: unknown): readonly unknown[] {
  const formats = isRecord(metadata) ? metadata['formats'] : undefined;
  return isRecord(formats) ? Object.values(formats) : [];
}

async function* measured(file: ArchiveFile, found: Map<string, Found>): AsyncGenerator<Buffer> {
  const sum = createHash('sha256');
  let size = 0;
  for await (const bytes of file.content) {
    size += bytes.length;
    sum.update(bytes);
    yield bytes;
  }
  if (size !== file.size) throw new Error(`${file.name}: has ${size} bytes, and should have ${file.size}`);
  found.set(path.posix.basename(file.name), { size, sha256: sum.digest('hex') });
}

/** Strapi stores a size in kilobytes with two decimals, and that of newer pictures also in bytes. An archive of Varve has digests. */
function differences(metadata: Record<string, unknown>, { size, sha256 }: Found): readonly string[] {
  const { size: kilobytes, sizeInBytes, sha256: digest } = metadata;
  if (typeof digest === 'string' && digest !== sha256)
    return [`the archive says its SHA-256 is ${digest}, and its bytes have ${sha256}`];
  const isOther =
    typeof sizeInBytes === 'number'
      ? sizeInBytes !== size
      : typeof kilobytes === 'number' &&
        KILOBYTES.every((unit) => Math.abs(size / unit - kilobytes) > ROUNDED);
  const says = typeof sizeInBytes === 'number' ? `${sizeInBytes} bytes` : `${String(kilobytes)} kB`;
  return isOther ? [`the archive says it has ${says}, and has ${size} bytes of it`] : [];
}
