import { readFileSync } from 'node:fs';
import { z } from 'zod';
import type { FollowReport } from '../../follow/follower.ts';
import type { FollowSettings } from '../../process/process-options.ts';
import { isArchive } from '../../strapi/archive.ts';
import {
  choice,
  duration,
  file,
  httpAddress,
  type SettingsOf,
  type SettingsTable,
  wholeNumber,
} from './setting.ts';

/** Settings of a server that follows a Strapi. */
export const FOLLOW_SETTINGS = {
  follow: {
    flags: '--follow <url>',
    description:
      'URL of a running Strapi: copy its content, follow its changes, and forward writes to it (default: none)',
    schema: httpAddress.optional(),
  },
  followToken: {
    flags: '--follow-token <token>',
    isSecret: true,
    description:
      'API token of that Strapi with the right to find everything. Prefer the variable or a file (default: none; Varve reads with the role Public)',
    schema: z.string().min(1, 'is empty: pass a token').optional(),
  },
  followTokenFile: {
    flags: '--follow-token-file <file>',
    description: 'file with the token of --follow-token',
    schema: file.optional(),
  },
  followFrom: {
    flags: '--follow-from <archive>',
    description:
      'archive from strapi export that the first copy begins with; unlike the API, it contains passwords (default: copy everything through the API)',
    schema: file.optional(),
  },
  followWebhookSecret: {
    flags: '--follow-webhook-secret <secret>',
    isSecret: true,
    description:
      "secret that Strapi's webhooks to /_varve/strapi send as Authorization: Bearer. Prefer the variable or a file (default: refuse webhooks)",
    schema: z.string().min(16, 'is shorter than 16 characters').optional(),
  },
  followWebhookSecretFile: {
    flags: '--follow-webhook-secret-file <file>',
    description: 'file with the secret of --follow-webhook-secret',
    schema: file.optional(),
  },
  followInterval: {
    flags: '--follow-interval <time>',
    description:
      'interval for reading new and changed entries from Strapi, which also finds those without a webhook; such as 500ms or 5m (default: 30s)',
    schema: duration.default(30_000),
  },
  followRate: {
    flags: '--follow-rate <number>',
    description:
      'maximum number of requests per second for comparing all ids, which finds every deletion (default: 5)',
    schema: wholeNumber(1, 1_000).default(5),
  },
  followDeletions: {
    flags: '--follow-deletions <share>',
    description:
      'maximum share of all stored rows to delete at once because Strapi lacks them. If Strapi lacks more, none is deleted, since Strapi may have started empty (default: 30%)',
    schema: z
      .string()
      .regex(/^(100|\d{1,2})%$/, 'must be a percentage such as 30%')
      .transform((text) => Number.parseInt(text, 10) / 100)
      .default(0.3),
  },
  followWrites: {
    flags: '--follow-writes <how>',
    description:
      "forward: send writes to Strapi with the caller's token; refuse: answer them with 405 (default: forward)",
    schema: choice('forward', 'refuse').default('forward'),
  },
} as const satisfies SettingsTable;

/** Returns the settings for following a Strapi; undefined if there is none to follow. Throws a message for a file that cannot be used. */
export function followSettings(
  given: SettingsOf<typeof FOLLOW_SETTINGS> & { readonly login: boolean },
  prefix: string,
  report: (what: FollowReport) => void,
): FollowSettings | undefined {
  if (given.follow === undefined) return undefined;
  if (given.login)
    throw new Error(
      '--login cannot be used with --follow: users sign in at Strapi, and its API returns no password hashes',
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
