import { readFileSync } from 'node:fs';
import * as z from 'zod';
import { file, type Setting, type SettingsTable, variableOf } from './setting.ts';
import { InvalidSettings, SETTING_GROUPS } from './settings.ts';

/** The option of every command that names the settings file. */
export const CONFIG = {
  flags: '--config <file>',
  description: 'JSON file with settings, by group; options and variables win over it (docs/settings.md)',
  schema: file.optional(),
} as const satisfies Setting;

type Given = Readonly<Record<string, unknown>>;

/**
 * Adds the settings of the file that `--config` names to the options of a command, unless options or variables have them. Settings that the
 * command does not have are left out. Throws InvalidSettings with every problem of the file.
 */
export function withSettingsFile(table: SettingsTable, given: Given): Given {
  const { config, ...others } = given;
  if (config === undefined) return given;
  const added = Object.entries(readSettingsFile(String(config))).filter(
    ([name]) => Object.hasOwn(table, name) && others[name] === undefined,
  );
  return { ...others, ...Object.fromEntries(added) };
}

/** Returns the settings of a file, as texts. */
function readSettingsFile(path: string): Readonly<Record<string, string>> {
  const content = readJson(path);
  const parsed = settingsForm().safeParse(content);
  if (!parsed.success)
    throw new InvalidSettings(
      ...problemsOf(parsed.error, content).map((problem) => `--config ${path}: ${problem}`),
    );
  const { $schema: _, ...groups } = parsed.data;
  return Object.assign({}, ...Object.values(groups)) as Readonly<Record<string, string>>;
}

function readJson(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    throw new InvalidSettings(
      `--config (${variableOf(CONFIG)}) "${path}" cannot be read: ${(error as Error).message}`,
    );
  }
}

/** Returns the form of the file: groups of settings. Its output has every value as the text of its option. */
function settingsForm() {
  const groups = Object.entries(SETTING_GROUPS).map(([group, table]) => {
    const members = Object.entries<Setting>(table).map(([name, setting]) => [
      name,
      formOf(setting).optional(),
    ]);
    return [group, z.strictObject(Object.fromEntries(members)).optional()];
  });
  return z.strictObject({ $schema: z.string().optional(), ...Object.fromEntries(groups) });
}

function formOf(setting: Setting) {
  const { type } = schemaOf(setting);
  const value = type === 'integer' ? z.int() : type === 'boolean' ? z.boolean() : z.string();
  return value.transform(String).superRefine((text, context) => {
    const parsed = setting.schema.safeParse(text);
    if (!parsed.success) context.addIssue(parsed.error.issues[0]?.message ?? 'is wrong');
  });
}

function problemsOf({ issues }: z.ZodError, content: unknown): readonly string[] {
  return issues.flatMap((issue) => {
    const path = issue.path.map(String);
    if (issue.code !== 'unrecognized_keys')
      return [`${path.join('.')} ${JSON.stringify(valueIn(content, path))} ${issue.message}`.trim()];
    const [group] = path;
    const accepted = Object.keys(
      Object.entries(SETTING_GROUPS).find(([name]) => name === group)?.[1] ?? SETTING_GROUPS,
    );
    return issue.keys.map(
      (key) => `${[...path, key].join('.')} is unknown; accepted: ${accepted.join(', ')}`,
    );
  });
}

function valueIn(content: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((value, name) => (value as Readonly<Record<string, unknown>>)[name], content);
}

/** Returns the JSON Schema of the value of a setting in the file. */
function schemaOf({ schema, description }: Setting): Readonly<Record<string, unknown>> {
  const { $schema: _, ...printed } = z.toJSONSchema(schema, {
    io: 'input',
    unrepresentable: 'any',
    override({ jsonSchema }) {
      // The description says the default, in the unit of the option.
      delete jsonSchema.default;
      if (jsonSchema.type !== 'string') delete jsonSchema.pattern;
    },
  });
  return { ...printed, description };
}

/** Returns the JSON Schema of the settings file (docs/varve.schema.json). */
export function settingsFileSchema(): object {
  const closed = (properties: object) => ({ type: 'object', additionalProperties: false, properties });
  const groups = Object.entries(SETTING_GROUPS).map(([group, table]) => {
    const members = Object.entries<Setting>(table).map(([name, setting]) => [name, schemaOf(setting)]);
    return [group, closed(Object.fromEntries(members))];
  });
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Settings of varve (--config)',
    ...closed({ $schema: { type: 'string' }, ...Object.fromEntries(groups) }),
  };
}
