import { type SettingsTable, wholeNumber } from './setting.ts';

export const PAST_SETTINGS = {
  pastWorlds: {
    flags: '--past-worlds <number>',
    description:
      'maximum number of processes that answer reads with asOf; each has the content of one moment in memory. 0: such reads are refused (default: 1)',
    schema: wholeNumber(0, 64).default(1),
  },
  pastRows: {
    flags: '--past-rows <number>',
    description:
      'maximum number of rows of such a process, which takes some 100 MB and 3 kB for each row; a read of a larger past is a 400 (default: 500000)',
    schema: wholeNumber(1, 1_000_000_000).default(500_000),
  },
} as const satisfies SettingsTable;
