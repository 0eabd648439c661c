import { type AssetStore, AssetTooLarge, type StagedAsset } from '../../shared/asset-store/asset-store.ts';
import { addToList } from '../../shared/map-values.ts';
import { RequestError } from '../../shared/request-error.ts';
import { type AcceptedMedia, acceptsMime } from './accepted-media.ts';
import { type DetectedMedia, detectMedia, HEAD_BYTES } from './detect-media.ts';
import { cleanFileName } from './file-name.ts';
import { tooManyPixels } from './pictures/too-many-pixels.ts';

/** Parts of a form, in the order of arrival; a file's content has to be read before the next part. */
export type UploadPart =
  | { readonly kind: 'field'; readonly name: string; readonly value: unknown }
  | {
      readonly kind: 'file';
      readonly name: string;
      /** Undefined: the part has no file name. */
      readonly fileName: string | undefined;
      readonly content: AsyncIterable<Uint8Array>;
    };

export type ReceivedFile = {
  readonly staged: StagedAsset;
  readonly fileName: string;
  readonly media: DetectedMedia;
};

export type ReceivedUpload = {
  readonly files: readonly ReceivedFile[];
  /** All values of each field. */
  readonly fields: ReadonlyMap<string, readonly unknown[]>;
};

export type UploadLimits = {
  /** Bytes of one file. */
  readonly maxBytes: number;
  readonly accepted: AcceptedMedia;
  /** Pixels of one picture, according to its head. */
  readonly maxPixels: number;
};

const FILES = 'files';
/** `source` and `path` are left over from Strapi 3's forms and have no effect, as in Strapi 5. */
const FIELDS = ['fileInfo', 'ref', 'refId', 'field', 'source', 'path'];

/**
 * Receives a whole form. If any part of it is refused or breaks off, nothing of any file remains. Throws 400, 413 or
 * 415. The caller keeps or discards every file.
 */
export async function receiveUpload(
  store: AssetStore,
  parts: AsyncIterable<UploadPart>,
  limits: UploadLimits,
): Promise<ReceivedUpload> {
  const files: ReceivedFile[] = [];
  const fields = new Map<string, unknown[]>();
  try {
    for await (const part of parts) {
      if (part.kind === 'file') files.push(await receiveFile(store, part, limits));
      else if (FIELDS.includes(part.name)) addToList(fields, part.name, part.value);
      else if (part.name === FILES) throw unnamedFile();
      else throw unknownPart(part.name);
    }
    return { files, fields };
  } catch (error) {
    await discardAll(files);
    throw error;
  }
}

/** Removes the staged contents of an upload that is refused. */
export async function discardAll(files: readonly ReceivedFile[]): Promise<void> {
  await Promise.all(files.map(({ staged }) => staged.discard()));
}

async function receiveFile(
  store: AssetStore,
  part: UploadPart & { readonly kind: 'file' },
  { maxBytes, accepted, maxPixels }: UploadLimits,
): Promise<ReceivedFile> {
  if (part.name !== FILES) throw unknownPart(part.name);
  if (part.fileName === undefined) throw unnamedFile();
  const fileName = cleanFileName(part.fileName);
  const head: Uint8Array[] = [];
  const staged = await stage(store, fileName, keepingHead(part.content, head), maxBytes);
  try {
    if (staged.size === 0) throw emptyFiles({ found: fileName });
    const media = await detectMedia(Buffer.concat(head), fileName);
    if (!acceptsMime(accepted, media.mime)) throw notAccepted(fileName, media.mime, accepted);
    const { width, height } = media;
    const pixels = media.mime.startsWith('image/svg') ? 0 : (width ?? 0) * (height ?? 0);
    if (pixels > maxPixels) throw tooManyPixels(fileName, { width, height, frames: 1 });
    return { staged, fileName, media };
  } catch (error) {
    await staged.discard();
    throw error;
  }
}

async function stage(
  store: AssetStore,
  fileName: string,
  content: AsyncIterable<Uint8Array>,
  maxBytes: number,
): Promise<StagedAsset> {
  try {
    return await store.stage(content, maxBytes);
  } catch (error) {
    if (!(error instanceof AssetTooLarge)) throw error;
    throw new RequestError('payload-too-large', `${fileName} exceeds size limit of ${maxBytes} bytes.`, {
      path: FILES,
      accepted: `at most ${maxBytes} bytes`,
    });
  }
}

/** Yields `content` unchanged, and copies the first bytes to `head` for detection. */
export async function* keepingHead(content: AsyncIterable<Uint8Array>, head: Uint8Array[]) {
  let left = HEAD_BYTES;
  for await (const chunk of content) {
    if (left > 0) head.push(chunk.subarray(0, left));
    left -= chunk.length;
    yield chunk;
  }
}

/** Returns the error for a form without a file, in Strapi's wording. */
export function emptyFiles(details: Readonly<Record<string, unknown>> = {}): RequestError {
  return new RequestError('invalid-body', 'Files are empty', { path: FILES, ...details });
}

function unnamedFile(): RequestError {
  return emptyFiles({ found: 'a part without a filename', accepted: 'parts with a filename' });
}

function unknownPart(name: string): RequestError {
  return new RequestError('invalid-body', `Invalid key ${name}`, {
    key: name,
    source: 'body',
    accepted: [FILES, ...FIELDS],
  });
}

function notAccepted(fileName: string, mime: string, accepted: AcceptedMedia): RequestError {
  return new RequestError('media-type-not-allowed', `${fileName} is of type ${mime}, which is not allowed`, {
    path: FILES,
    found: mime,
    accepted,
  });
}
