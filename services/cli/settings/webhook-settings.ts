import { z } from 'zod';
import { WEBHOOK_LIMITS, type WebhookLimits } from '../../webhooks/webhook-limits.ts';
import { type SettingsOf, type SettingsTable, wholeNumber } from './setting.ts';

const SECONDS = /^\d{1,7}(\.\d{1,3})?$/;

export const WEBHOOK_SETTINGS = {
  webhookTimeout: {
    flags: '--webhook-timeout <ms>',
    description: 'time for a receiver of a webhook to answer (default: 15000)',
    schema: wholeNumber(1, 600_000).default(WEBHOOK_LIMITS.timeoutMs),
  },
  webhookInFlight: {
    flags: '--webhook-in-flight <number>',
    description: 'deliveries of one webhook that are sent at the same time (default: 10)',
    schema: wholeNumber(1, 1_000).default(WEBHOOK_LIMITS.inFlight),
  },
  webhookRelated: {
    flags: '--webhook-related <number>',
    description:
      'links of a changed document up to which entry.related-change is sent for each document that shows it (default: 1000)',
    schema: wholeNumber(1, 100_000).default(WEBHOOK_LIMITS.maxRelated),
  },
  webhookRetry: {
    flags: '--webhook-retry <seconds>',
    description:
      'waits before the second and each further attempt, with commas; then a delivery is parked (default: those of Standard Webhooks, 5 s to 24 h)',
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
      'maximum time that a failing delivery holds back later ones of its document; then it is parked (default: 300)',
    schema: wholeNumber(0, 604_800).default(WEBHOOK_LIMITS.holdMs / 1_000),
  },
  webhookKeep: {
    flags: '--webhook-keep <hours>',
    description: 'time that deliveries are stored (default: 168)',
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
