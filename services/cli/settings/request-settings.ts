import { z } from 'zod';
import { type Setting, wholeNumber, yesOrNo } from './setting.ts';

/** Entries of the largest page that can be configured. */
export const MAX_PAGE = 100_000;

/** What a server says of the requests it takes: Strapi's `config/api` and what depends on its database. */
export const REQUEST_SETTINGS = {
  strictParams: {
    flags: '--strict-params <boolean>',
    description:
      'refuse root parameters that are not known, as Strapi with strictParams; false: ignore them, and name each once in the log (default: as config/api beside src, else true)',
    schema: yesOrNo.optional(),
  },
  defaultLimit: {
    flags: '--default-limit <number>',
    description:
      "entries of a page that says no size, Strapi's rest.defaultLimit (default: as config/api, else 25)",
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
        error: 'is neither case-sensitive nor case-insensitive',
      })
      .default('case-sensitive'),
  },
  maxOffset: {
    flags: '--max-offset <number>',
    description: 'entries that a page may skip; beyond it there are cursors (default: 100000)',
    schema: wholeNumber(0, 1_000_000_000).default(100_000),
  },
} as const satisfies Readonly<Record<string, Setting>>;
