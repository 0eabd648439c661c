import type { Resource } from '../../shared/resource.ts';
import type { SchemaWarning } from '../../shared/schema/schema-problem.ts';

/** Source of the value of a setting. `file`: the settings file. `project`: the project's configuration. */
export type SettingSource = 'option' | 'variable' | 'file' | 'project' | 'default';

export type DescribedSetting = {
  readonly name: string;
  /** Group of `--help` and of the settings file. */
  readonly group: string;
  /** Such as `--port`. */
  readonly option: string;
  readonly variable: string;
  readonly description: string;
  /** The value as a text, without credentials; null: none, or a secret. */
  readonly value: string | null;
  readonly source: SettingSource;
  /** True: its value is never shown. */
  readonly isSecret: boolean;
};

/** Settings that are in force in a process, and the parts of the project that it does not serve. */
export type SettingsInForce = {
  readonly role: string;
  readonly version: string;
  readonly settings: readonly DescribedSetting[];
  /** Configuration of the project; null: there is none. */
  readonly project: {
    readonly file: string;
    readonly prefix: string;
    readonly withCount: boolean;
    readonly privateAttributes: readonly string[];
    /** Parts that could not be read; null: none. */
    readonly failure: string | null;
  } | null;
  /** Parts of the schema files that are not served as they are. */
  readonly schemas: readonly SchemaWarning[];
  /** Code of the project that does not run, one line for each kind. */
  readonly code: readonly string[];
};

/** Path of the settings in force. */
const PATH = '/_varve/settings';

/** The settings in force. Callers without the right to see them get the answer of an unknown path. */
export const SETTINGS_RESOURCES: readonly Resource<{ readonly settings: () => SettingsInForce }>[] = [
  {
    name: 'getSettings',
    summary: 'Show the settings in force and their sources, and what of the project is not served',
    method: 'GET',
    path: PATH,
    run: ({ settings }) => ({ data: settings() }),
  },
];
