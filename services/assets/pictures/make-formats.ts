import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { AssetStore } from '../../../shared/asset-store/asset-store.ts';
import { nameInSpace } from '../../../shared/asset-store/served-names.ts';
import type { Locks } from '../../../shared/locks.ts';
import { formatName } from './format-names.ts';
import { type FormatName, formatsSmallerThan } from './format-sizes.ts';
import type { PictureResizer, ResizedFile, ResizeOutcome } from './picture-resizer.ts';

/** Attributes of a file that its formats follow from. */
export type Picture = {
  readonly name: string;
  readonly hash: string;
  readonly ext: string;
  readonly mime: string;
  readonly url: string;
};

/** A smaller picture, with Strapi's members and names. */
export type PictureFormat = Picture & {
  readonly path: null;
  /** Kilobytes with two decimals. */
  readonly size: number;
  readonly width: number;
  readonly height: number;
  readonly sizeInBytes: number;
};

/** The attribute `formats` of a file: null when the picture is smaller than every format. */
export type PictureFormats = { readonly [Name in FormatName]?: PictureFormat } | null;

export type MadeFormats =
  | { readonly kind: 'made'; readonly formats: PictureFormats }
  | Exclude<ResizeOutcome, { readonly kind: 'made' }>;

export type FormatsTarget = {
  readonly store: AssetStore;
  /** Locks by content hash, held while content gets names. */
  readonly locks: Locks;
  readonly resizer: PictureResizer;
  readonly space: string;
};

/**
 * Makes the smaller pictures of stored content, and stores each under its name before this resolves. Content without a name always has a
 * suspect record: see FileContents.
 */
export async function makeFormats(
  target: FormatsTarget,
  picture: Picture,
  content: AsyncIterable<Uint8Array>,
): Promise<MadeFormats> {
  return target.resizer.resize(content, async (outcome) => {
    if (outcome.kind !== 'made') return outcome;
    const formats: [string, PictureFormat][] = [];
    for (const resized of outcome.formats) {
      const format = presentFormat(picture, resized, (await stat(resized.file)).size);
      await keepFormat(target, format, resized.file);
      formats.push([resized.format, format]);
    }
    return { kind: 'made', formats: formats.length === 0 ? null : Object.fromEntries(formats) };
  });
}

/** The formats of a picture with the same content, under another name. */
export function renamedFormats(formats: PictureFormats, name: string): PictureFormats {
  if (formats === null) return null;
  return Object.fromEntries(
    Object.entries(formats).map(([key, format]) => [key, { ...format, name: `${key}_${name}` }]),
  );
}

/** Returns whether a picture of this size gets formats; undefined sizes are unknown. */
export function wantsFormats(width: unknown, height: unknown): boolean {
  if (typeof width !== 'number' || typeof height !== 'number') return true;
  return formatsSmallerThan({ width, height }).length > 0;
}

function presentFormat(
  picture: Picture,
  { format, width, height }: ResizedFile,
  bytes: number,
): PictureFormat {
  const { name, hash, ext, mime, url } = picture;
  const at = url.lastIndexOf('/') + 1;
  return {
    ext,
    url: `${url.slice(0, at)}${formatName(format, url.slice(at))}`,
    hash: formatName(format, hash),
    mime,
    name: formatName(format, name),
    path: null,
    size: Math.round(bytes / 10) / 100,
    width,
    height,
    sizeInBytes: bytes,
  };
}

async function keepFormat({ store, locks, space }: FormatsTarget, format: PictureFormat, file: string) {
  const staged = await store.stage(createReadStream(file), Number.MAX_SAFE_INTEGER);
  await locks.run([staged.hash], async () => {
    await store.suspect(staged.hash);
    await staged.keep();
    const name = nameInSpace(space, format.url.slice(format.url.lastIndexOf('/') + 1));
    const before = await store.names.find(name);
    // An interrupted process may have stored this content, and no event names it.
    if (before !== undefined && before.hash !== staged.hash) await store.suspect(before.hash);
    await store.names.give(name, { hash: staged.hash, mime: format.mime });
    await store.clear(staged.hash);
  });
}
