import { DEFAULT_MAX_OFFSET, MAX_PAGE } from '../../query/pagination.ts';
import { choice, type SettingsTable, wholeNumber, yesOrNo } from './setting.ts';

/** Settings for requests: Strapi's `config/api`, and those that depend on its database. */
export const REQUEST_SETTINGS = {
  strictParams: {
    flags: '--strict-params <boolean>',
    description:
      'refuse unknown root parameters and wrong values of status and locale, like strictParams of Strapi; false: ignore them, and log each unknown name once (default: as config/api next to src says, or true outside of a project)',
    schema: yesOrNo.optional(),
  },
  strictRelations: {
    flags: '--strict-relations <boolean>',
    description:
      'refuse to publish an entry that lacks a required relation or file, like strictRelations of Strapi (default: as config/api next to src says, or true outside of a project)',
    schema: yesOrNo.optional(),
  },
  defaultLimit: {
    flags: '--default-limit <number>',
    description:
      "number of entries on a page if the request names none, like Strapi's rest.defaultLimit (default: as config/api says, or 25)",
    schema: wholeNumber(1, MAX_PAGE).optional(),
  },
  maxLimit: {
    flags: '--max-limit <number>',
    description:
      "maximum number of entries on a page, like Strapi's rest.maxLimit; a larger page is cut (default: as config/api says, or 100 outside of a project)",
    schema: wholeNumber(1, MAX_PAGE).optional(),
  },
  contains: {
    flags: '--contains <how>',
    description:
      'how $contains, $notContains, $startsWith and $endsWith compare: case-sensitive, like Strapi on PostgreSQL, or case-insensitive, like Strapi on SQLite (default: case-sensitive)',
    schema: choice('case-sensitive', 'case-insensitive').default('case-sensitive'),
  },
  maxOffset: {
    flags: '--max-offset <number>',
    description:
      'maximum number of entries that a page may skip; cursors have no such limit (default: 50000)',
    schema: wholeNumber(0, 1_000_000_000).default(DEFAULT_MAX_OFFSET),
  },
  usersEnvelope: {
    flags: '--users-envelope <boolean>',
    description:
      'answer /api/users with data and meta, like other collections; false: with a bare array, like Strapi (default: false)',
    schema: yesOrNo.default(false),
  },
} as const satisfies SettingsTable;
