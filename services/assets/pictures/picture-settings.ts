import type { PictureResizer } from './picture-resizer.ts';

/** Pixels of a picture, all frames counted: as many as sharp takes, and Strapi with it. */
export const MAX_PIXELS = 268_402_689;

/** When the smaller pictures of an upload are made: before it is answered, as Strapi does, after it, or never. */
export type FormatsMade = 'before' | 'after' | 'off';

export type PictureSettings = {
  readonly made: FormatsMade;
  readonly resizer: PictureResizer;
  /** Told of a file that stays without formats, and why. */
  readonly left: (documentIdOrName: string, reason: string) => void;
};
