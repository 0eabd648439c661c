import { CHANGED_TYPE_SETTINGS } from './content-type-settings.ts';
import type { SettingsOf, SettingsTable } from './setting.ts';
import { IMPORT_SETTINGS } from './settings.ts';

/** Settings of `varve types`. */
export const TYPES_SETTINGS = {
  ...CHANGED_TYPE_SETTINGS,
  data: IMPORT_SETTINGS.data,
  defaultLocale: IMPORT_SETTINGS.defaultLocale,
} as const satisfies SettingsTable;

export type TypesSettings = SettingsOf<typeof TYPES_SETTINGS>;
