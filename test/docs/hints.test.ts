import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Command, type Option } from 'commander';
import { expect, it } from 'vitest';
import { COMMANDS } from '../../services/cli/commands.ts';
import { COMMAND_GROUPS } from '../../services/cli/grouped-commands.ts';
import { addCommands } from '../../services/cli/settings/command.ts';
import { parseTree, visitTree } from '../support/syntax-tree.ts';

/**
 * Reads the commands in messages of the program, such as `run varve rebuild --cancel`. Each must exist, with these options and their values,
 * so that a reader can type it as it is. What each does then is tested where the message comes from.
 */
const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const FILES = globSync('{services,projections,shared}/**/*.ts', { cwd: ROOT });

const program = new Command('varve');
addCommands(program, COMMAND_GROUPS, COMMANDS, async () => {});

type Hint = { readonly file: string; readonly text: string; readonly problem: string | undefined };

/** Returns the texts of a file's string literals. Expressions in templates are `VALUE`. */
function textsOf(file: string): readonly string[] {
  const source = readFileSync(join(ROOT, file), 'utf8');
  if (!/\bvarve /.test(source)) return [];
  const texts: string[] = [];
  visitTree(parseTree(source), (node) => {
    if (node.type === 'StringLiteral') texts.push(String(node['value']));
    if (node.type !== 'TemplateLiteral') return;
    const quasis = node['quasis'] as readonly { readonly cooked: string }[];
    texts.push(quasis.map(({ cooked }) => cooked).join('VALUE'));
  });
  return texts;
}

/** Returns why the words after `varve` are not a command. They end at the first that is neither a command nor an option or its value. */
function problemOf(words: readonly string[]): string | undefined {
  let [command, at] = [program, 0];
  for (; command.commands.length > 0; at++) {
    const next = command.commands.find((each) => each.name() === words[at]);
    if (next === undefined)
      return at === 0 ? undefined : `varve ${words.slice(0, at + 1).join(' ')} does not exist`;
    command = next;
  }
  for (; words[at]?.startsWith('--') === true; at++) {
    const option: Option | undefined = command.options.find(({ long }) => long === words[at]);
    if (option === undefined) return `varve ${command.name()} has no ${words[at]}`;
    if (option.required && !isValue(words[++at], option)) return `${words[at - 1]} needs a value`;
  }
  return undefined;
}

/** Returns whether a word can be typed as a value: a placeholder in capitals, or one of the values that the option's description names. */
function isValue(word: string | undefined, { description }: Option): boolean {
  return word !== undefined && (/^[A-Z\d/<.]/.test(word) || description.includes(word));
}

const hints: readonly Hint[] = FILES.flatMap((file) =>
  textsOf(file).flatMap((text) =>
    [...text.matchAll(/\bvarve ((?:-{0,2}[\w/<>.=]+[\w>-]*[ ]?)+)/g)].map(([, found = '']) => {
      const words = found
        .trim()
        .split(' ')
        .map((word) => word.replace(/\.$/, ''));
      return { file, text: `varve ${words.slice(0, 6).join(' ')}`, problem: problemOf(words) };
    }),
  ),
);

it('there are hints of many kinds', () => {
  const all = hints.map(({ text }) => text);
  for (const start of ['varve rebuild --graph', 'varve verify --repair', 'varve parked list', 'varve status'])
    expect(
      all.filter((text) => text.startsWith(start)),
      start,
    ).not.toEqual([]);
});

it('each command in a message can be typed as it is', () => {
  expect(hints.filter(({ problem }) => problem !== undefined)).toEqual([]);
});

it('finds commands that do not exist, and options that are unknown or lack their value', () => {
  expect(problemOf(['parked', 'lost'])).toBe('varve parked lost does not exist');
  expect(problemOf(['rebuild', '--all'])).toBe('varve rebuild has no --all');
  expect(problemOf(['rebuild', '--type', 'makes'])).toBe('--type needs a value');
  expect(problemOf(['rebuild', '--type', 'TYPE', '--world', 'draft'])).toBeUndefined();
});
