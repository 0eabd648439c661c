import { type Command, Help } from 'commander';
import { SETTING_GROUPS } from './settings.ts';

/** Returns the heading of a setting in the help of a server. */
export function headingOf(name: string): string {
  const found = Object.entries(SETTING_GROUPS).find(([, table]) => Object.hasOwn(table, name));
  return headingOfGroup(found?.[0] ?? 'the command');
}

function headingOfGroup(group: string): string {
  return `Options of ${group}:`;
}

/** Lets `--help GROUP` of a command show the options of one group. An unknown group is an error. */
export function groupHelp(command: Command): void {
  const headings = new Set(command.options.map((option) => option.helpGroupHeading));
  const names = Object.keys(SETTING_GROUPS).filter((name) => headings.has(headingOfGroup(name)));
  command.addHelpText('before', () => {
    const group = askedGroup();
    if (group !== undefined && !names.includes(group))
      command.error(`varve ${command.name()}: --help knows the groups ${names.join(', ')}, got "${group}"`);
    return '';
  });
  command.addHelpText(
    'after',
    () => `\nvarve ${command.name()} --help GROUP shows one group: ${names.join(', ')}.`,
  );
  command.configureHelp({
    visibleOptions(shown) {
      const group = askedGroup();
      const all = Help.prototype.visibleOptions.call(this, shown);
      return group === undefined
        ? all
        : all.filter((option) => option.helpGroupHeading === headingOfGroup(group));
    },
  });
}

/** Returns the word after `--help`; undefined if there is none. */
function askedGroup(): string | undefined {
  const at = process.argv.findIndex((argument) => argument === '--help' || argument === '-h');
  return process.argv[at + 1];
}
