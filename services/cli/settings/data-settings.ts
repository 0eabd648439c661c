import { z } from 'zod';
import { folder, type SettingsTable, yesOrNo } from './setting.ts';

/** Settings of everything that reads the log. */
export const LOG_SETTINGS = {
  data: {
    flags: '--data <dir>',
    description: 'data directory: the events, and everything made from them (default: .varve)',
    schema: folder.default('.varve'),
  },
  eventStore: {
    flags: '--event-store <address>',
    description:
      'address of the event log: sqlite:FILE, which several processes on one machine can share, or kurrentdb://HOST:PORT (default: events.db in the data directory)',
    schema: z.string().min(1, 'is empty: pass an address').optional(),
  },
  space: {
    flags: '--space <name>',
    description: 'namespace: prefix of all names in a shared log or cluster (default: varve)',
    schema: z
      .string()
      .regex(/^[a-z][a-z0-9_]{0,30}$/, 'must be at most 31 of a-z, 0-9 and _, and start with a letter')
      .default('varve'),
  },
} as const satisfies SettingsTable;

/** Settings for where the data of a server is. */
export const DATA_SETTINGS = {
  ...LOG_SETTINGS,
  adopt: {
    flags: '--adopt [boolean]',
    description:
      'become the owner of the uploaded files and Elasticsearch indices of another log, which must not be in use any more (default: false)',
    schema: yesOrNo.default(false),
  },
} as const satisfies SettingsTable;
