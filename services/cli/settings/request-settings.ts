import { z } from 'zod';
import { type SettingsTable, wholeNumber, yesOrNo } from './setting.ts';

/** Entries of the largest page that can be configured. */
export const MAX_PAGE = 100_000;

/** Settings for requests: Strapi's `config/api`, and those that depend on its database. */
export const REQUEST_SETTINGS = {
  strictParams: {
    flags: '--strict-params <boolean>',
    description:
      'refuse unknown root parameters and wrong values of status and locale, as Strapi with strictParams; false: ignore them, and log each unknown name once (default: as config/api next to src, else true)',
    schema: yesOrNo.optional(),
  },
  strictRelations: {
    flags: '--strict-relations <boolean>',
    description:
      'refuse to publish an entry without its required relations and files, as Strapi with strictRelations (default: as config/api next to src, else true)',
    schema: yesOrNo.optional(),
  },
  defaultLimit: {
    flags: '--default-limit <number>',
    description:
      "entries of a page without a given size, Strapi's rest.defaultLimit (default: as config/api, else 25)",
    schema: wholeNumber(1, MAX_PAGE).optional(),
  },
  maxLimit: {
    flags: '--max-limit <number>',
    description:
      "entries of the largest page, Strapi's rest.maxLimit; a larger page is cut (default: as config/api, else 100)",
    schema: wholeNumber(1, MAX_PAGE).optional(),
  },
  contains: {
    flags: '--contains <how>',
    description:
      'case-sensitive, as Strapi on PostgreSQL; case-insensitive, as on SQLite: for $contains, $notContains, $startsWith and $endsWith (default: case-sensitive)',
    schema: z
      .enum(['case-sensitive', 'case-insensitive'], {
        error: 'must be case-sensitive or case-insensitive',
      })
      .default('case-sensitive'),
  },
  maxOffset: {
    flags: '--max-offset <number>',
    description: 'maximum number of entries that a page may skip; cursors go further (default: 100000)',
    schema: wholeNumber(0, 1_000_000_000).default(100_000),
  },
} as const satisfies SettingsTable;
