import { z } from 'zod';
import { parseS3Location } from '../../../shared/asset-store/s3/s3-location.ts';
import { parseAcceptedMedia } from '../../assets/accepted-media.ts';
import { MAX_PIXELS } from '../../assets/pictures/picture-settings.ts';
import { folder, type SettingsTable, wholeNumber } from './setting.ts';

const assetsAddress = folder.superRefine((address, context) => {
  if (!address.startsWith('s3:')) return;
  try {
    parseS3Location(address);
  } catch (error) {
    context.addIssue((error as Error).message);
  }
});

/** Settings for uploaded files: location, accepted types, and smaller pictures. */
export const UPLOAD_SETTINGS = {
  assets: {
    flags: '--assets <location>',
    description:
      'location of uploaded files: a folder, or s3://bucket/prefix?endpoint=… with AWS_… credentials (default: assets in the data directory)',
    schema: assetsAddress.optional(),
  },
  uploadLimit: {
    flags: '--upload-limit <bytes>',
    description: 'maximum size of an uploaded file in bytes (default: 200000000)',
    schema: wholeNumber(1, 1_099_511_627_776).default(200_000_000),
  },
  uploadTypes: {
    flags: '--upload-types <list>',
    description: 'MIME types of files that may be uploaded, such as image/*,application/pdf (default: */*)',
    schema: z
      .string()
      .transform(parseAcceptedMedia)
      .refine(
        (accepted) => accepted !== undefined,
        'must be a list of MIME types such as image/*,application/pdf',
      )
      .default(['*/*']),
  },
  pictureFormats: {
    flags: '--picture-formats <when>',
    description:
      'when to make the smaller pictures of an upload: before or after the upload is answered, or never (off) (default: before, like Strapi; off without the package sharp)',
    schema: z.enum(['before', 'after', 'off'], { error: 'must be one of before, after and off' }).optional(),
  },
  picturePixels: {
    flags: '--picture-pixels <number>',
    description: 'maximum number of pixels of a picture, all frames together (default: 268402689)',
    schema: wholeNumber(1, 2 ** 40).default(MAX_PIXELS),
  },
} as const satisfies SettingsTable;
