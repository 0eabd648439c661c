import { join } from 'node:path';
import type { Sharp } from 'sharp';
import { boxOf, type FormatName, formatsSmallerThan } from './format-sizes.ts';

/** Request to resize-pictures.ts: its argument in JSON. */
export type ResizeRequest = {
  readonly picture: string;
  /** A folder, which gets a file for each format. */
  readonly target: string;
  /** Pixels of all frames together. */
  readonly maxPixels: number;
};

/** Smaller picture. Its file is in the target folder and has the name of the format. */
export type Resized = {
  readonly format: FormatName;
  readonly width: number;
  readonly height: number;
};

/** Answer of resize-pictures.ts on stdout, as JSON. */
export type ResizeAnswer =
  | { readonly kind: 'made'; readonly formats: readonly Resized[] }
  | { readonly kind: 'too large'; readonly width: number; readonly height: number; readonly frames: number }
  | { readonly kind: 'faulty' };

type OpenPicture = (
  file: string,
  options: { readonly animated: true; readonly limitInputPixels: number | false },
) => Sharp;

/**
 * Writes the formats of a picture. Its size is read from its head, before any of it is decoded. As in Strapi, animations keep their frames.
 * A picture with an EXIF rotation keeps its pixels and its tag: browsers rotate the formats like the picture.
 */
export async function resizePicture(
  open: OpenPicture,
  { picture, target, maxPixels }: ResizeRequest,
): Promise<ResizeAnswer> {
  const unlimited = open(picture, { animated: true, limitInputPixels: false });
  const head = await unlimited.metadata().catch(() => undefined);
  if (head === undefined) return { kind: 'faulty' };
  const { width, pages: frames = 1, pageHeight, orientation = 1 } = head;
  const height = pageHeight ?? head.height;
  if (width * height * frames > maxPixels) return { kind: 'too large', width, height, frames };
  const limited = () => open(picture, { animated: true, limitInputPixels: maxPixels });
  const formats: Resized[] = [];
  try {
    for (const format of formatsSmallerThan({ width, height })) {
      const resized = limited().resize({ ...boxOf(format), fit: 'inside' });
      const turned =
        orientation > 1 ? resized.withExif({ IFD0: { Orientation: String(orientation) } }) : resized;
      const info = await turned.toFile(join(target, format));
      formats.push({ format, width: info.width, height: info.pageHeight ?? info.height });
    }
  } catch {
    return { kind: 'faulty' };
  }
  return { kind: 'made', formats };
}
