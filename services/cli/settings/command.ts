import { type Command, Option } from 'commander';
import { groupHelp, headingOf } from './group-help.ts';
import { ROLE_SETTINGS } from './roles.ts';
import { type Setting, type SettingsOf, type SettingsTable, variableOf } from './setting.ts';
import { originsOf, type SettingOrigins } from './setting-origins.ts';
import { parseSettings } from './settings.ts';
import { CONFIG, withSettingsFile } from './settings-file.ts';
import { withLogOfDirectory } from './settings-of-directory.ts';

/** A command of the command line, as a row of its table. */
export type CommandRow = CommandText & {
  readonly run: (given: Given, argument: unknown, sourceOf: SourceOf) => Promise<void>;
};

/** Returns commander's source of an option. */
type SourceOf = (name: string) => string | undefined;

/** Options as commander collected them from arguments and variables. */
export type Given = Readonly<Record<string, unknown>>;

type CommandText = {
  /** Name of the command: a word, or the words of its group and the command. */
  readonly name: string;
  readonly description: string;
  /** Argument in commander's form, and its description. */
  readonly argument?: readonly [name: string, description?: string];
  /** Options besides the settings; `required` ones must be given. */
  readonly options?: readonly (readonly [flags: string, description: string, required?: 'required'])[];
  readonly settings: SettingsTable;
};

/** Code of a command: it gets the settings, the other options by their names in camel case, the argument, and which settings were given. */
type Work<Settings, Options, Argument> = (
  settings: Settings,
  options: Options,
  argument: Argument,
  origins: SettingOrigins,
) => Promise<void>;

type CommandDefinition<Table extends SettingsTable, Settings, Options, Argument> = CommandText & {
  readonly settings: Table;
  /** Makes the settings from the given options. Default: parses them with the table. Throws InvalidSettings. */
  readonly parse?: (given: Given) => Settings | Promise<Settings>;
  readonly load: () => Promise<Work<Settings, Options, Argument>>;
};

export type JsonOption = { readonly json?: true };
export const JSON_OPTION = ['--json', 'print JSON, for programs'] as const;

/** Creates a row whose parts have matching types. */
export function command<
  Table extends SettingsTable,
  Settings = SettingsOf<Table>,
  Options = unknown,
  Argument = unknown,
>(definition: CommandDefinition<Table, Settings, Options, Argument>): CommandRow {
  const { options = [], settings: table, parse = (given: Given) => parseSettings(table, given) } = definition;
  const names = options.map(([flags]) => new Option(flags).attributeName());
  return {
    ...definition,
    async run(given, argument, sourceOf) {
      const whole = withSettingsFile(table, given);
      const known = Object.hasOwn(ROLE_SETTINGS, definition.name) ? whole : withLogOfDirectory(table, whole);
      const settings = (await parse(known)) as Settings;
      const work = await definition.load();
      const own = names.flatMap((name) => (given[name] === undefined ? [] : [[name, given[name]]]));
      const origins = originsOf(given, whole, sourceOf);
      await work(settings, Object.fromEntries(own) as Options, argument as Argument, origins);
    },
  };
}

/** Returns a function that creates rows with these settings. `run` selects the code of the row from the module that `load` imports. */
export function commandsOf<Table extends SettingsTable, Module>(
  settings: Table,
  load: () => Promise<Module>,
) {
  return <Options, Argument>(
    row: Omit<CommandText, 'settings'> & {
      readonly run: (module: Module) => Work<SettingsOf<Table>, Options, Argument>;
    },
  ): CommandRow => command({ ...row, settings, load: async () => row.run(await load()) });
}

/** Adds commands to the program. `groups`: the description of each, by name. `run` gets the name and the command's action. */
export function addCommands(
  program: Command,
  groups: Readonly<Record<string, string>>,
  rows: readonly CommandRow[],
  run: (name: string, action: () => Promise<void>) => Promise<void>,
): void {
  for (const row of rows) {
    const [first = '', second] = row.name.split(' ');
    const group = second === undefined ? program : groupOf(program, first, groups[first] ?? '');
    const added = group.command(second ?? first).description(row.description);
    if (row.argument !== undefined) added.argument(...row.argument);
    for (const [flags, description, required] of row.options ?? []) {
      added.addOption(new Option(flags, description).makeOptionMandatory(required !== undefined));
    }
    const isServer = Object.hasOwn(ROLE_SETTINGS, row.name);
    for (const [name, setting] of Object.entries(row.settings))
      added.addOption(isServer ? optionOf(setting).helpGroup(headingOf(name)) : optionOf(setting));
    added.addOption(optionOf(CONFIG));
    if (isServer) groupHelp(added);
    added.action(() =>
      run(row.name, () =>
        row.run(added.opts(), added.processedArgs[0], (name) => added.getOptionValueSource(name)),
      ),
    );
  }
}

function optionOf(setting: Setting): Option {
  const option = new Option(setting.flags, setting.description).env(variableOf(setting));
  if (setting.isRepeated === undefined) return option;
  return option.argParser((text: string, before: string | undefined) =>
    before === undefined ? text : `${before},${text}`,
  );
}

function groupOf(program: Command, name: string, description: string): Command {
  const known = program.commands.find((each) => each.name() === name);
  return known ?? program.command(name).description(description);
}
