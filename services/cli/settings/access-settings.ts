import { z } from 'zod';
import { PROVIDER_SETTINGS } from './login-settings.ts';
import type { SettingsTable } from './setting.ts';

/** Settings for the rights of callers. */
export const ACCESS_SETTINGS = {
  public: {
    flags: '--public <rights>',
    description:
      'rights of callers without a token, such as restaurant.find,restaurant.findOne; empty: no rights. chef.* includes writes by everyone. They are stored, and apply until you pass other rights',
    schema: z.string().optional(),
  },
  accessKey: {
    flags: '--access-key <key>',
    isSecret: true,
    description:
      'key for hashing tokens: at least 32 bytes in base64url, the same in every process of a log (default: generated in the folder of the log). Prefer the variable: other users can see arguments',
    schema: z.string().optional(),
  },
  ...PROVIDER_SETTINGS,
} as const satisfies SettingsTable;
