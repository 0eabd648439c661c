import { readFileSync } from 'node:fs';
import { z } from 'zod';
import type { FollowReport } from '../../follow/follower.ts';
import type { FollowSettings } from '../../process/process-options.ts';
import { isArchive } from '../../strapi/archive.ts';
import { type SettingsOf, type SettingsTable, wholeNumber } from './setting.ts';

const UNITS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 } as const;

/** A time such as `30s`, in milliseconds. */
const duration = z
  .string()
  .regex(/^\d{1,9}(ms|s|m|h)$/, 'is not a time such as 500ms, 30s or 5m')
  .transform((text) => Number.parseInt(text, 10) * UNITS[text.replace(/^\d+/, '') as keyof typeof UNITS]);

/** Settings of a server that follows a Strapi. */
export const FOLLOW_SETTINGS = {
  follow: {
    flags: '--follow <url>',
    description:
      'serve the content of a running Strapi with all its changes, and forward writes to it (default: none)',
    schema: z.url({ protocol: /^https?$/, error: 'must be an http or https address' }).optional(),
  },
  followToken: {
    flags: '--follow-token <token>',
    description:
      'an API token of that Strapi that may find everything; prefer the variable or a file (default: none, as its role Public)',
    schema: z.string().min(1, 'is empty: a token is needed').optional(),
  },
  followTokenFile: {
    flags: '--follow-token-file <file>',
    description: 'a file with that token',
    schema: z.string().min(1, 'is empty: pass a file').optional(),
  },
  followFrom: {
    flags: '--follow-from <archive>',
    description:
      'archive of strapi export that the first copy begins with; it has the passwords too (default: copy everything through the API)',
    schema: z.string().min(1, 'is empty: pass a file').optional(),
  },
  followWebhookSecret: {
    flags: '--follow-webhook-secret <secret>',
    description:
      "secret that Strapi's webhooks to /_varve/strapi send as Authorization: Bearer; prefer the variable or a file (default: refuse webhooks)",
    schema: z.string().min(16, 'is shorter than 16 characters').optional(),
  },
  followWebhookSecretFile: {
    flags: '--follow-webhook-secret-file <file>',
    description: 'a file with that secret',
    schema: z.string().min(1, 'is empty: pass a file').optional(),
  },
  followInterval: {
    flags: '--follow-interval <time>',
    description: 'interval for reading new and changed entries without a webhook (default: 30s)',
    schema: duration.default(30_000),
  },
  followRate: {
    flags: '--follow-rate <number>',
    description: 'requests a second of the comparison of all ids, which finds every deletion (default: 5)',
    schema: wholeNumber(1, 1_000).default(5),
  },
  followDeletions: {
    flags: '--follow-deletions <share>',
    description:
      'largest share of all stored rows that is deleted at once because Strapi lacks them; more are kept, since a Strapi may start empty (default: 30%)',
    schema: z
      .string()
      .regex(/^(100|\d{1,2})%$/, 'is not a share such as 30%')
      .transform((text) => Number.parseInt(text, 10) / 100)
      .default(0.3),
  },
  followWrites: {
    flags: '--follow-writes <how>',
    description:
      'forward: send writes on to Strapi with the token of their caller; refuse: answer 405 (default: forward)',
    schema: z.enum(['forward', 'refuse'], { error: 'is neither forward nor refuse' }).default('forward'),
  },
} as const satisfies SettingsTable;

/** The Strapi that the settings say to follow. Throws a sentence for a file that cannot be used. */
export function followSettings(
  given: SettingsOf<typeof FOLLOW_SETTINGS> & { readonly login: boolean },
  prefix: string,
  report: (what: FollowReport) => void,
): FollowSettings | undefined {
  if (given.follow === undefined) return undefined;
  if (given.login)
    throw new Error(
      '--login cannot be used with --follow: Strapi gives no password hashes, and signs its users in',
    );
  const { followFrom: from } = given;
  if (from !== undefined && !isArchive(from))
    throw new Error(`--follow-from "${from}" is not an archive that strapi export wrote`);
  return {
    url: given.follow,
    prefix,
    from,
    report,
    token: given.followToken ?? secretIn('--follow-token-file', given.followTokenFile),
    webhookSecret:
      given.followWebhookSecret ?? secretIn('--follow-webhook-secret-file', given.followWebhookSecretFile),
    intervalMs: given.followInterval,
    rate: given.followRate,
    mostGone: given.followDeletions,
    writes: given.followWrites,
  };
}

function secretIn(option: string, file: string | undefined): string | undefined {
  if (file === undefined) return undefined;
  let secret: string;
  try {
    secret = readFileSync(file, 'utf8').trim();
  } catch (error) {
    throw new Error(`${option} "${file}" cannot be read: ${(error as Error).message}`);
  }
  if (secret === '') throw new Error(`${option} "${file}" is empty`);
  return secret;
}
