/** Pixels that a smaller picture fits into. */
export type PictureBox = { readonly width: number; readonly height: number };

/** The smaller pictures that Strapi makes, by the name that each has in `formats`, in the order of Strapi's answers on PostgreSQL. */
const BOXES = {
  large: { width: 1000, height: 1000 },
  small: { width: 500, height: 500 },
  medium: { width: 750, height: 750 },
  thumbnail: { width: 245, height: 156 },
} as const satisfies { readonly [name: string]: PictureBox };

export type FormatName = keyof typeof BOXES;

export const FORMAT_NAMES = Object.keys(BOXES) as readonly FormatName[];

/** Returns the pixels that a format fills at most, as Strapi's defaults say. */
export function boxOf(name: FormatName): PictureBox {
  return BOXES[name];
}

/** Returns the formats that are smaller than a picture of this size. */
export function formatsSmallerThan({ width, height }: PictureBox): readonly FormatName[] {
  return FORMAT_NAMES.filter((name) => width > BOXES[name].width || height > BOXES[name].height);
}

/** MIME types of pictures that get formats. SVG scales by itself, and Strapi makes none of AVIF. */
const RESIZED = ['image/jpeg', 'image/png', 'image/apng', 'image/webp', 'image/tiff', 'image/gif'];

/** Returns whether pictures of this MIME type get formats, if they are larger than these. */
export function isResized(mime: string): boolean {
  return RESIZED.includes(mime);
}
