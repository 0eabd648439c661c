import type { Logger } from 'pino';
import type { FormatsMade, PictureSettings } from '../../assets/pictures/picture-settings.ts';
import { requireSharp } from '../../assets/pictures/require-sharp.ts';
import type { ServeSettings } from '../settings/settings.ts';

/**
 * Time when formats are made: the setting, else before an upload is answered. Without sharp, a setting that needs it is
 * refused with a message, and the default is off, with a line in the log.
 */
export async function choosePictureFormats(
  { pictureFormats }: Pick<ServeSettings, 'pictureFormats'>,
  logger: Pick<Logger, 'warn'>,
): Promise<FormatsMade> {
  if (pictureFormats === 'off') return 'off';
  try {
    await requireSharp(`--picture-formats ${pictureFormats ?? 'before'}`);
    return pictureFormats ?? 'before';
  } catch (error) {
    if (pictureFormats !== undefined) throw error;
    logger.warn({}, `uploaded pictures get no formats: ${(error as Error).message}`);
    return 'off';
  }
}

/** Returns the report of pictures without formats: a warning in the log. */
export function logLeftPicture(logger: Pick<Logger, 'warn'>): PictureSettings['left'] {
  return (picture, reason) =>
    logger.warn({ picture, reason }, 'a picture has no formats; varve assets formats tries again');
}
