import { z } from 'zod';
import { commaList } from '../../../shared/comma-list.ts';
import { ACCESS_SETTINGS } from './access-settings.ts';
import { CHANGED_TYPE_SETTINGS, CONTENT_SETTINGS, CONTENT_TYPE_SETTINGS } from './content-type-settings.ts';
import { DATA_SETTINGS, LOG_SETTINGS } from './data-settings.ts';
import { DELIVERY_SETTINGS } from './delivery-settings.ts';
import { FOLLOW_SETTINGS } from './follow-settings.ts';
import { LOGIN_SETTINGS } from './login-settings.ts';
import { NETWORK_SETTINGS } from './network-settings.ts';
import { OPERATING_SETTINGS } from './operating-settings.ts';
import { PAST_SETTINGS } from './past-settings.ts';
import { PURGE_SETTINGS } from './purge-settings.ts';
import { READ_INDEX_SETTINGS } from './read-index-settings.ts';
import { REQUEST_SETTINGS } from './request-settings.ts';
import { folder, type Setting, type SettingsOf, type SettingsTable, variableOf } from './setting.ts';
import { UPLOAD_SETTINGS } from './upload-settings.ts';
import { WEBHOOK_SETTINGS } from './webhook-settings.ts';

/** All settings of a server, in the groups of `--help`, of the settings file and of docs/settings.md. */
export const SETTING_GROUPS = {
  content: CONTENT_SETTINGS,
  data: DATA_SETTINGS,
  network: NETWORK_SETTINGS,
  access: ACCESS_SETTINGS,
  login: LOGIN_SETTINGS,
  strapi: REQUEST_SETTINGS,
  caches: { ...DELIVERY_SETTINGS, ...PURGE_SETTINGS },
  webhooks: WEBHOOK_SETTINGS,
  following: FOLLOW_SETTINGS,
  past: PAST_SETTINGS,
  elasticsearch: READ_INDEX_SETTINGS,
  files: UPLOAD_SETTINGS,
  operating: OPERATING_SETTINGS,
} as const satisfies Readonly<Record<string, SettingsTable>>;

export const SERVE_SETTINGS = {
  ...SETTING_GROUPS.content,
  ...SETTING_GROUPS.data,
  ...SETTING_GROUPS.network,
  ...SETTING_GROUPS.access,
  ...SETTING_GROUPS.login,
  ...SETTING_GROUPS.strapi,
  ...SETTING_GROUPS.caches,
  ...SETTING_GROUPS.webhooks,
  ...SETTING_GROUPS.following,
  ...SETTING_GROUPS.past,
  ...SETTING_GROUPS.elasticsearch,
  ...SETTING_GROUPS.files,
  ...SETTING_GROUPS.operating,
} as const satisfies SettingsTable;

export const IMPORT_SETTINGS = {
  roleDrafts: {
    flags: '--role-drafts <roles>',
    description:
      'roles in an archive from strapi export that may see drafts, such as author,editor; in Strapi every role sees drafts (default: none)',
    schema: z.string().transform(commaList).default([]),
  },
  ...CHANGED_TYPE_SETTINGS,
  ...LOG_SETTINGS,
  accessKey: ACCESS_SETTINGS.accessKey,
  assets: UPLOAD_SETTINGS.assets,
  defaultLocale: CONTENT_SETTINGS.defaultLocale,
} as const satisfies SettingsTable;

/** Settings of commands that make copies. */
export const BACKUP_SETTINGS = {
  ...LOG_SETTINGS,
  assets: UPLOAD_SETTINGS.assets,
} as const satisfies SettingsTable;

/** Settings of commands for operators. */
export const OPERATOR_SETTINGS = {
  ...LOG_SETTINGS,
  ...READ_INDEX_SETTINGS,
} as const satisfies SettingsTable;

export const TOKEN_SETTINGS = {
  ...LOG_SETTINGS,
  accessKey: ACCESS_SETTINGS.accessKey,
  ...CONTENT_TYPE_SETTINGS,
  contentTypes: { ...CONTENT_TYPE_SETTINGS.contentTypes, schema: folder.optional() },
} as const satisfies SettingsTable;

/** Settings of `varve synonyms`. */
export const SYNONYM_SETTINGS = {
  ...LOG_SETTINGS,
  ...CONTENT_TYPE_SETTINGS,
  contentTypes: { ...CONTENT_TYPE_SETTINGS.contentTypes, schema: folder.optional() },
} as const satisfies SettingsTable;

/** Settings of `varve webhook`. */
export const WEBHOOK_COMMAND_SETTINGS = {
  ...LOG_SETTINGS,
  accessKey: ACCESS_SETTINGS.accessKey,
} as const satisfies SettingsTable;

/** Settings of a server, by group. */
export type ServeSettings = {
  readonly [Group in keyof typeof SETTING_GROUPS]: SettingsOf<(typeof SETTING_GROUPS)[Group]>;
};
export type WebhookCommandSettings = SettingsOf<typeof WEBHOOK_COMMAND_SETTINGS>;
export type SynonymSettings = SettingsOf<typeof SYNONYM_SETTINGS>;
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

/** Parses the settings of a server. Throws InvalidSettings. */
export function parseServeSettings(given: Readonly<Record<string, unknown>>): ServeSettings {
  const all: Readonly<Record<string, unknown>> = parseSettings(SERVE_SETTINGS, given);
  const groups = Object.entries(SETTING_GROUPS).map(([group, table]) => [
    group,
    Object.fromEntries(Object.keys(table).map((name) => [name, all[name]])),
  ]);
  return Object.fromEntries(groups) as ServeSettings;
}

function problemText(setting: Setting, value: unknown, error: z.ZodError): string {
  const option = setting.flags.split(' ')[0];
  const what = error.issues[0]?.message ?? error.message;
  return `${option} (${variableOf(setting)})${value === undefined ? '' : ` "${String(value)}"`} ${what}`;
}
