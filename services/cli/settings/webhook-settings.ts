import { z } from 'zod';
import { WEBHOOK_LIMITS, type WebhookLimits } from '../../webhooks/webhook-limits.ts';
import { type SettingsOf, type SettingsTable, wholeNumber } from './setting.ts';

const SECONDS = /^\d{1,7}(\.\d{1,3})?$/;

export const WEBHOOK_SETTINGS = {
  webhookTimeout: {
    flags: '--webhook-timeout <ms>',
    description: 'maximum time in milliseconds for a receiver of a webhook to answer (default: 15000)',
    schema: wholeNumber(1, 600_000).default(WEBHOOK_LIMITS.timeoutMs),
  },
  webhookInFlight: {
    flags: '--webhook-in-flight <number>',
    description: 'maximum number of deliveries of one webhook in flight at the same time (default: 10)',
    schema: wholeNumber(1, 1_000).default(WEBHOOK_LIMITS.inFlight),
  },
  webhookRelated: {
    flags: '--webhook-related <number>',
    description:
      'maximum number of links of a changed document for which each linked document gets its own entry.related-change; with more links, one covers all (default: 1000)',
    schema: wholeNumber(1, 100_000).default(WEBHOOK_LIMITS.maxRelated),
  },
  webhookRetry: {
    flags: '--webhook-retry <seconds>',
    description:
      'pauses in seconds before the second and each further attempt, separated by commas; after the last attempt the delivery is parked (default: the pauses of Standard Webhooks, 5 s to 24 h)',
    schema: z
      .string()
      .transform((text) => text.split(',').map((one) => one.trim()))
      .refine((list) => list.every((one) => SECONDS.test(one)), 'must be seconds such as 5,300,1800')
      .transform((list) => list.map((one) => Number(one) * 1_000))
      .default([...WEBHOOK_LIMITS.retryMs]),
  },
  webhookHold: {
    flags: '--webhook-hold <seconds>',
    description:
      'maximum time in seconds that a failing delivery holds back later deliveries of its document; then it is parked (default: 300)',
    schema: wholeNumber(0, 604_800).default(WEBHOOK_LIMITS.holdMs / 1_000),
  },
  webhookKeep: {
    flags: '--webhook-keep <hours>',
    description: 'time in hours for which deliveries are stored (default: 168)',
    schema: wholeNumber(1, 87_600).default(WEBHOOK_LIMITS.keepMs / 3_600_000),
  },
} as const satisfies SettingsTable;

/** Returns the limits of deliveries. Settings are in seconds and hours, limits in milliseconds. */
export function webhookLimits(settings: SettingsOf<typeof WEBHOOK_SETTINGS>): WebhookLimits {
  return {
    ...WEBHOOK_LIMITS,
    timeoutMs: settings.webhookTimeout,
    inFlight: settings.webhookInFlight,
    maxRelated: settings.webhookRelated,
    retryMs: settings.webhookRetry,
    holdMs: settings.webhookHold * 1_000,
    keepMs: settings.webhookKeep * 3_600_000,
  };
}
