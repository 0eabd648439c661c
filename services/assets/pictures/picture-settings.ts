import type { PictureResizer } from './picture-resizer.ts';

/** Maximum number of pixels of a picture, over all frames: the limit of sharp, and so of Strapi. */
export const MAX_PIXELS = 268_402_689;

/** Time when the smaller pictures of an upload are made: before it is answered, as in Strapi, after it, or never. */
export type FormatsMade = 'before' | 'after' | 'off';

export type PictureSettings = {
  readonly made: FormatsMade;
  readonly resizer: PictureResizer;
  /** Called for a file without formats, with the reason. */
  readonly left: (documentIdOrName: string, reason: string) => void;
};
