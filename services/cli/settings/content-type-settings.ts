import { z } from 'zod';
import { commaList } from '../../../shared/comma-list.ts';
import { SCALAR_TYPES, type ScalarType } from '../../../shared/schema/content-type.ts';
import { SEARCH_SETTINGS } from './read-synonyms.ts';
import { folder, type SettingsTable, wholeNumber, yesOrNo } from './setting.ts';

/** Settings for content types. */
export const CONTENT_TYPE_SETTINGS = {
  contentTypes: {
    flags: '--content-types <dir>',
    description:
      'location of the content types: the src folder of a Strapi project, a folder of its schema.json files, or an archive from strapi export',
    schema: folder,
  },
  key: {
    flags: '--key <passphrase>',
    isSecret: true,
    description: 'passphrase of an encrypted archive (.enc) from strapi export',
    schema: z.string().min(1, 'is empty: pass the passphrase of the archive').optional(),
  },
  strictSchemas: {
    flags: '--strict-schemas [boolean]',
    description:
      'refuse to start if a schema has an attribute that Varve cannot serve; false: omit the attribute (default: false)',
    schema: yesOrNo.default(false),
  },
  timeMilliseconds: {
    flags: '--time-milliseconds <boolean>',
    description:
      'answer times as 18:45:30.000, like Strapi on SQLite, instead of 18:45:30 (default: true if config/database next to src says sqlite)',
    schema: yesOrNo.optional(),
  },
  customField: {
    flags: '--custom-field <list>',
    description:
      'types of the stored values of unknown custom fields, such as plugin::rating.stars=integer,plugin::notes.note=text (default: json)',
    schema: z
      .string()
      .transform((text, context) => {
        const entries = text.split(',').map((each) => each.trim().split('='));
        const wrong = entries.find(([field, type]) => !field || !isScalarType(type));
        if (wrong === undefined) return Object.fromEntries(entries) as Record<string, ScalarType>;
        context.addIssue(
          `has "${wrong.join('=')}": expected <custom field>=<type>, with a type of ${SCALAR_TYPES.join(', ')}`,
        );
        return z.NEVER;
      })
      .default({}),
  },
} as const satisfies SettingsTable;

/** Settings of processes that may change the content types in force. */
export const CHANGED_TYPE_SETTINGS = {
  ...CONTENT_TYPE_SETTINGS,
  acceptLoss: {
    flags: '--accept-loss <names>',
    description:
      'attributes whose values may disappear because their definition has changed, as a refused start names them, such as api::article.article.summary; can be repeated (default: none)',
    schema: z.string().transform(commaList).default([]),
    isRepeated: true,
  },
} as const satisfies SettingsTable;

/** Settings for content types and their entries. */
export const CONTENT_SETTINGS = {
  ...CHANGED_TYPE_SETTINGS,
  ...SEARCH_SETTINGS,
  examples: {
    flags: '--examples [boolean]',
    description:
      "write the example entries of the content types on the first start; without --content-types, serve Varve's restaurant guide (default: false)",
    schema: yesOrNo.default(false),
  },
  defaultLocale: {
    flags: '--default-locale <locale>',
    description: 'locale of requests that name no locale (default: en)',
    schema: z
      .string()
      .regex(/^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*$/, 'must be a locale such as en, en-US or zh-Hans')
      .default('en'),
  },
  convertAtOnce: {
    flags: '--convert-at-once <rows>',
    description:
      'maximum number of rows that a start converts to changed content types before it serves. With more rows, it serves the earlier content types until a new read model is built (default: 10000)',
    schema: wholeNumber(0, 1_000_000_000).default(10_000),
  },
} as const satisfies SettingsTable;

function isScalarType(text: string | undefined): boolean {
  return SCALAR_TYPES.some((type) => type === text);
}
