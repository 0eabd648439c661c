import { extname } from 'node:path';
import type { FileTypeResult } from 'file-type';
import { detectText } from './text-media.ts';

/** Type of a file, detected from its bytes. `ext` begins with a dot and always matches `mime`. */
export type DetectedMedia = {
  readonly ext: string;
  readonly mime: string;
  /** Pixels; null if the file is not a picture, or its head does not contain the size. */
  readonly width: number | null;
  readonly height: number | null;
};

/**
 * Number of bytes that are examined at the start of a file. It is large because the size of a picture may come after embedded profiles and
 * previews.
 */
export const HEAD_BYTES = 512 * 1024;

/** Formats that share a container: the bytes show the container, and only the file name shows the format. */
const CONTAINED: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'application/x-cfb': {
    '.doc': 'application/msword',
    '.xls': 'application/vnd.ms-excel',
    '.ppt': 'application/vnd.ms-powerpoint',
  },
};

const UNKNOWN = { ext: '.bin', mime: 'application/octet-stream' } as const;

/** Detects the type from `head`: the first HEAD_BYTES. The file name decides only among text and Office formats. */
export async function detectMedia(head: Uint8Array, fileName: string): Promise<DetectedMedia> {
  const { ext, mime } = await detectFormat(head, fileName);
  return { ext, mime, ...(mime.startsWith('image/') ? await measure(head) : { width: null, height: null }) };
}

async function detectFormat(head: Uint8Array, fileName: string) {
  const binary = await detectBinary(head);
  if (binary === undefined || binary.mime === 'application/xml') return detectText(head, fileName) ?? UNKNOWN;
  const ext = extname(fileName).toLowerCase();
  const contained = CONTAINED[binary.mime]?.[ext];
  return contained === undefined ? { ext: `.${binary.ext}`, mime: binary.mime } : { ext, mime: contained };
}

/** Detects a binary format. An incomplete or malicious head has no known format. */
async function detectBinary(head: Uint8Array): Promise<FileTypeResult | undefined> {
  // The package is loaded at the first upload: most processes start without one.
  const { fileTypeFromBuffer } = await import('file-type');
  try {
    return await fileTypeFromBuffer(head);
  } catch {
    return undefined;
  }
}

async function measure(head: Uint8Array): Promise<Pick<DetectedMedia, 'width' | 'height'>> {
  const { imageSize } = await import('image-size');
  try {
    // The head is copied because the library reads past the end of a view.
    const { width, height } = imageSize(new Uint8Array(head));
    return { width: pixels(width), height: pixels(height) };
  } catch {
    return { width: null, height: null };
  }
}

function pixels(value: number): number | null {
  const rounded = Math.round(value);
  return Number.isSafeInteger(rounded) && rounded > 0 && rounded < 2 ** 31 ? rounded : null;
}
