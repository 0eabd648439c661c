import { z } from 'zod';
import { commaList } from '../../../shared/comma-list.ts';
import { CHANGED_TYPE_SETTINGS, CONTENT_TYPE_SETTINGS } from './content-type-settings.ts';
import { DELIVERY_SETTINGS } from './delivery-settings.ts';
import { FOLLOW_SETTINGS } from './follow-settings.ts';
import { LOGIN_SETTINGS } from './login-settings.ts';
import { PURGE_SETTINGS } from './purge-settings.ts';
import { READ_INDEX_SETTINGS } from './read-index-settings.ts';
import { SEARCH_SETTINGS } from './read-synonyms.ts';
import { REQUEST_SETTINGS } from './request-settings.ts';
import {
  choice,
  folder,
  httpAddress,
  type Setting,
  type SettingsOf,
  type SettingsTable,
  variableOf,
  wholeNumber,
  yesOrNo,
} from './setting.ts';
import { STREAM_SETTINGS } from './stream-settings.ts';
import { UPLOAD_SETTINGS } from './upload-settings.ts';
import { WEBHOOK_SETTINGS } from './webhook-settings.ts';
import { WORKER_SETTINGS } from './worker-settings.ts';

const DATA = {
  flags: '--data <dir>',
  description: 'data directory: the events, and everything made from them (default: .varve)',
  schema: folder.default('.varve'),
} as const satisfies Setting;

const EVENT_STORE = {
  flags: '--event-store <address>',
  description:
    'address of the event log: sqlite:FILE, which several processes on one machine can share, or kurrentdb://HOST:PORT (default: events.db in the data directory)',
  schema: z.string().min(1, 'is empty: pass an address').optional(),
} as const satisfies Setting;

const DEFAULT_LOCALE = {
  flags: '--default-locale <locale>',
  description: 'locale of requests that name no locale (default: en)',
  schema: z
    .string()
    .regex(/^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*$/, 'must be a locale such as en, en-US or zh-Hans')
    .default('en'),
} as const satisfies Setting;

const SPACE = {
  flags: '--space <name>',
  description: 'namespace: prefix of all names in a shared log or cluster (default: varve)',
  schema: z
    .string()
    .regex(/^[a-z][a-z0-9_]{0,30}$/, 'must be at most 31 of a-z, 0-9 and _, and start with a letter')
    .default('varve'),
} as const satisfies Setting;

const ACCESS_KEY = {
  flags: '--access-key <key>',
  description:
    'key for hashing tokens: at least 32 bytes in base64url, the same in every process of a log (default: generated in the folder of the log). Prefer the variable: other users can see arguments',
  schema: z.string().optional(),
} as const satisfies Setting;

/** Returns whether a text is `*` or an origin as browsers send it: scheme, host and port, without a path. */
export function isOrigin(text: string): boolean {
  return text === '*' || (URL.canParse(text) && new URL(text).origin === text);
}

export const SERVE_SETTINGS = {
  ...CHANGED_TYPE_SETTINGS,
  ...SEARCH_SETTINGS,
  data: DATA,
  eventStore: EVENT_STORE,
  port: {
    flags: '--port <number>',
    description: 'port to listen on; 0: any free port (default: 1337)',
    schema: wholeNumber(0, 65_535).default(1337),
  },
  host: {
    flags: '--host <address>',
    description:
      'address to listen on; an address that is not loopback requires access tokens or --public (default: 127.0.0.1)',
    schema: z.string().min(1, 'is empty: pass an address').default('127.0.0.1'),
  },
  advertise: {
    flags: '--advertise <url>',
    description:
      'URL at which the other processes of the log reach this process, such as http://10.0.0.7:1337 (default: the address that it listens on)',
    schema: httpAddress.optional(),
  },
  adopt: {
    flags: '--adopt [boolean]',
    description:
      'become the owner of the uploaded files and Elasticsearch indices of another log, which must not be in use any more (default: false)',
    schema: yesOrNo.default(false),
  },
  public: {
    flags: '--public <rights>',
    description:
      'rights of callers without a token, such as restaurant.find,restaurant.findOne; empty: no rights. chef.* includes writes by everyone. They are stored, and apply until you pass other rights',
    schema: z.string().optional(),
  },
  accessKey: ACCESS_KEY,
  cors: {
    flags: '--cors <origins>',
    description:
      'origins of web pages that may call the API from a browser, such as https://example.org, or * for all (default: those in config/middlewares, else none)',
    schema: z
      .string()
      .transform(commaList)
      .refine((origins) => origins.every(isOrigin), 'must be a list of origins such as https://example.org')
      .optional(),
  },
  rateLimit: {
    flags: '--rate-limit <number>',
    description: 'maximum number of requests per minute from one address; 0: no limit (default: 0)',
    schema: wholeNumber(0, 1_000_000_000).default(0),
  },
  trustProxy: {
    flags: '--trust-proxy <addresses>',
    description:
      'addresses of proxies whose X-Forwarded-For is trusted, such as loopback,10.0.0.0/8 (default: none)',
    schema: z.string().min(1, 'is empty: pass addresses').optional(),
  },
  ...LOGIN_SETTINGS,
  examples: {
    flags: '--examples [boolean]',
    description:
      "write the example entries of the content types on the first start; without --content-types, serve Varve's restaurant guide (default: false)",
    schema: yesOrNo.default(false),
  },
  defaultLocale: DEFAULT_LOCALE,
  usersEnvelope: {
    flags: '--users-envelope <boolean>',
    description:
      'answer /api/users with data and meta, like other collections; false: with a bare array, like Strapi (default: false)',
    schema: yesOrNo.default(false),
  },
  space: SPACE,
  convertAtOnce: {
    flags: '--convert-at-once <rows>',
    description:
      'maximum number of rows that a start converts to changed content types before it serves. With more rows, it serves the earlier content types until a new read model is built (default: 10000)',
    schema: wholeNumber(0, 1_000_000_000).default(10_000),
  },
  ...REQUEST_SETTINGS,
  ...DELIVERY_SETTINGS,
  ...FOLLOW_SETTINGS,
  ...WEBHOOK_SETTINGS,
  ...STREAM_SETTINGS,
  ...PURGE_SETTINGS,
  ...READ_INDEX_SETTINGS,
  ...WORKER_SETTINGS,
  minPositionWait: {
    flags: '--min-position-wait <ms>',
    description:
      'maximum time in milliseconds that a read with Varve-Min-Position waits; then the answer is a 503 (default: 5000)',
    schema: wholeNumber(0, 600_000).default(5_000),
  },
  bodyLimit: {
    flags: '--body-limit <bytes>',
    description: 'maximum size of a request body in bytes (default: 1048576)',
    schema: wholeNumber(1, 1_073_741_824).default(1_048_576),
  },
  ...UPLOAD_SETTINGS,
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

export const IMPORT_SETTINGS = {
  roleDrafts: {
    flags: '--role-drafts <roles>',
    description:
      'roles in an archive from strapi export that may see drafts, such as author,editor; in Strapi every role sees drafts (default: none)',
    schema: z.string().transform(commaList).default([]),
  },
  ...CHANGED_TYPE_SETTINGS,
  data: DATA,
  eventStore: EVENT_STORE,
  accessKey: ACCESS_KEY,
  assets: SERVE_SETTINGS.assets,
  defaultLocale: DEFAULT_LOCALE,
  space: SPACE,
} as const satisfies SettingsTable;

/** Settings of commands that only read the log. */
export const LOG_SETTINGS = {
  data: DATA,
  eventStore: EVENT_STORE,
  space: SPACE,
} as const satisfies SettingsTable;

/** Settings of commands that make copies. */
export const BACKUP_SETTINGS = {
  ...LOG_SETTINGS,
  assets: SERVE_SETTINGS.assets,
} as const satisfies SettingsTable;

/** Settings of commands for operators. */
export const OPERATOR_SETTINGS = {
  ...LOG_SETTINGS,
  ...READ_INDEX_SETTINGS,
} as const satisfies SettingsTable;

export const TOKEN_SETTINGS = {
  ...LOG_SETTINGS,
  accessKey: ACCESS_KEY,
  ...CONTENT_TYPE_SETTINGS,
  contentTypes: { ...CONTENT_TYPE_SETTINGS.contentTypes, schema: folder.optional() },
} as const satisfies SettingsTable;

/** Settings of `varve webhook`. */
export const WEBHOOK_COMMAND_SETTINGS = {
  ...LOG_SETTINGS,
  accessKey: ACCESS_KEY,
} as const satisfies SettingsTable;

export type ServeSettings = SettingsOf<typeof SERVE_SETTINGS>;
export type WebhookCommandSettings = SettingsOf<typeof WEBHOOK_COMMAND_SETTINGS>;
export type TokenSettings = SettingsOf<typeof TOKEN_SETTINGS>;
export type LogOnlySettings = SettingsOf<typeof LOG_SETTINGS>;
export type BackupSettings = SettingsOf<typeof BACKUP_SETTINGS>;
export type OperatorSettings = SettingsOf<typeof OPERATOR_SETTINGS>;
export type ImportSettings = SettingsOf<typeof IMPORT_SETTINGS>;

/** Error for settings that cannot be used. The message lists the problems, one a line. */
export class InvalidSettings extends Error {
  constructor(...problems: readonly string[]) {
    super(problems.map((problem) => `  ${problem}`).join('\n'));
  }
}

/** Parses `given`, the options and variables from commander. Throws InvalidSettings. */
export function parseSettings<Table extends SettingsTable>(
  table: Table,
  given: Readonly<Record<string, unknown>>,
): SettingsOf<Table> {
  const parsed = Object.entries(table).map(([name, setting]) => {
    // An option without its value is on.
    const value = given[name] === true ? 'true' : given[name];
    return { name, setting, value, result: setting.schema.safeParse(value) };
  });
  const problems = parsed.flatMap(({ setting, value, result }) =>
    result.success ? [] : [problemText(setting, value, result.error)],
  );
  if (problems.length > 0) throw new InvalidSettings(...problems);
  return Object.fromEntries(parsed.map(({ name, result }) => [name, result.data])) as SettingsOf<Table>;
}

function problemText(setting: Setting, value: unknown, error: z.ZodError): string {
  const option = setting.flags.split(' ')[0];
  const what = error.issues[0]?.message ?? error.message;
  return `${option} (${variableOf(setting)})${value === undefined ? '' : ` "${String(value)}"`} ${what}`;
}
