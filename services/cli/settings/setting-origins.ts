import type { DescribedSetting, SettingSource } from '../../state/settings-in-force.ts';
import { type Setting, variableOf } from './setting.ts';
import { SETTING_GROUPS } from './settings.ts';

/** A setting that was given: its text, and where. */
export type GivenSetting = { readonly source: SettingSource; readonly text: string };

/** Settings that were given, by name. The others have their defaults. */
export type SettingOrigins = ReadonlyMap<string, GivenSetting>;

type Options = Readonly<Record<string, unknown>>;

/**
 * Returns the settings that were given. `given`: those of the command line and of variables. `all`: with those of the settings file.
 * `sourceOf`: commander's source of an option.
 */
export function originsOf(
  given: Options,
  all: Options,
  sourceOf: (name: string) => string | undefined,
): SettingOrigins {
  const found = Object.entries(all).filter(([, value]) => value !== undefined);
  return new Map(
    found.map(([name, value]) => {
      const isGiven = given[name] !== undefined;
      const source = !isGiven ? 'file' : sourceOf(name) === 'env' ? 'variable' : 'option';
      return [name, { source, text: String(value) }];
    }),
  );
}

/** Describes the settings of a role, without secrets. `ofProject`: values of the project's configuration. */
export function describeSettings(
  table: Readonly<Record<string, Setting>>,
  origins: SettingOrigins,
  ofProject: ReadonlyMap<string, string>,
): readonly DescribedSetting[] {
  return Object.entries(SETTING_GROUPS).flatMap(([group, members]) =>
    Object.entries<Setting>(members).flatMap(([name, setting]) =>
      Object.hasOwn(table, name)
        ? [describeSetting(setting, { name, group, found: foundOf(name, setting, origins, ofProject) })]
        : [],
    ),
  );
}

function foundOf(
  name: string,
  setting: Setting,
  origins: SettingOrigins,
  ofProject: ReadonlyMap<string, string>,
): { readonly source: SettingSource; readonly text: string | null } {
  const given = origins.get(name);
  if (given !== undefined) return given;
  const text = ofProject.get(name);
  return text === undefined ? { source: 'default', text: defaultOf(setting) } : { source: 'project', text };
}

/** Returns the default as the description says it, in the unit of the option; null: there is none. */
function defaultOf({ description }: Setting): string | null {
  return /\(default: ([^()]*(?:\([^()]*\)[^()]*)*)\)/.exec(description)?.[1] ?? null;
}

type Found = {
  readonly name: string;
  readonly group: string;
  readonly found: ReturnType<typeof foundOf>;
};

function describeSetting(setting: Setting, { name, group, found }: Found): DescribedSetting {
  const { flags, description, isSecret = false } = setting;
  const { source, text } = found;
  const isShown = !isSecret || source === 'default';
  return {
    name,
    group,
    option: flags.split(' ')[0] ?? flags,
    variable: variableOf(setting),
    description,
    value: isShown && text !== null ? withoutCredentials(text) : null,
    source,
    isSecret,
  };
}

const HIDDEN = '[hidden]';

/** Returns a text without the credentials and secret parameters of the URLs in it. */
export function withoutCredentials(text: string): string {
  return text
    .replace(/([a-z][a-z0-9+.-]{0,30}:\/\/)[^\s,]*@/gi, `$1${HIDDEN}@`)
    .replace(
      /([?&;][^=&;\s]{0,40}(?:key|pass|secret|token|credential|sig)[^=&;\s]{0,40}=)[^&;\s,]*/gi,
      `$1${HIDDEN}`,
    );
}
