import { z } from 'zod';
import { choice, type SettingsTable, wholeNumber, yesOrNo } from './setting.ts';

/** Settings for metrics, health, logs and the end of a process. */
export const OPERATING_SETTINGS = {
  metrics: {
    flags: '--metrics <boolean>',
    description:
      'collect metrics and serve them at /metrics; if there are access tokens, only to those with full access (default: true)',
    schema: yesOrNo.default(true),
  },
  metricsPort: {
    flags: '--metrics-port <number>',
    description:
      'serve /metrics and /health on this separate port, to everyone who can reach it (default: none)',
    schema: wholeNumber(0, 65_535).optional(),
  },
  metricsHost: {
    flags: '--metrics-host <address>',
    description: 'address to listen on with --metrics-port (default: 127.0.0.1)',
    schema: z.string().min(1, 'is empty: pass an address').default('127.0.0.1'),
  },
  slowQueryMs: {
    flags: '--slow-query-ms <number>',
    description:
      'log queries that take longer than this time in milliseconds, with their query string; 0: log none (default: 1000)',
    schema: wholeNumber(0, 3_600_000).default(1_000),
  },
  readyLagSeconds: {
    flags: '--ready-lag-seconds <number>',
    description:
      'maximum lag of reads behind the log in seconds; beyond it /health/ready answers 503 (default: 30)',
    schema: wholeNumber(0, 86_400).default(30),
  },
  searchLogDays: {
    flags: '--search-log-days <number>',
    description:
      'count what people look for, without anything about them, and keep the counts for this number of days, at most 366; 0: count nothing (default: 0)',
    schema: wholeNumber(0, 366).default(0),
  },
  drainSeconds: {
    flags: '--drain-seconds <number>',
    description:
      'maximum time in seconds for finishing requests in flight after SIGTERM or SIGINT (default: 10)',
    schema: wholeNumber(0, 3600).default(10),
  },
  logLevel: {
    flags: '--log-level <level>',
    description:
      'lowest level that is logged to stderr: fatal, error, warn, info, debug, trace or silent (default: warn)',
    schema: choice('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent').default('warn'),
  },
  logFormat: {
    flags: '--log-format <format>',
    description: 'format of log lines: json or pretty (default: pretty on a terminal, else json)',
    schema: choice('json', 'pretty').optional(),
  },
} as const satisfies SettingsTable;
