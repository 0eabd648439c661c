import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { functionLinesOf } from './function-lines.ts';
import { optionBagsOf } from './option-bags.ts';
import { PRODUCT } from './rooms.ts';
import { parseTree, type Tree, visitTree } from './syntax-tree.ts';
import { undocumentedOf } from './undocumented.ts';

/** Places in product code that break a convention of this project, each as `file: what`. */
export type Habits = {
  /** Spreads of a literal: `{ ...{ a, b } }`. Write the members out. */
  readonly spreadLiterals: readonly string[];
  /** Optional members without the helper: `...(a === undefined ? {} : { a })`. Write `...defined({ a })`. */
  readonly optionalMembers: readonly string[];
  /** Functions of a module as constants: `const f = () => …`. Write `function f()`. Constants with a type are allowed. */
  readonly arrowFunctions: readonly string[];
  /** Functions with more than four parameters. Pass an object. */
  readonly longParameterLists: readonly string[];
  /** Names that several files export. Rename all but one. */
  readonly sharedNames: readonly string[];
  /** Functions of more than 40 lines, without those of inner functions. Move a part into a function with a name, or pass an object. */
  readonly longFunctions: readonly string[];
  /** Files of more than 300 lines. Move a part into a file with a name. */
  readonly longFiles: readonly string[];
  /** Exported types of options with more than 12 members. Put members that belong together into a group. */
  readonly optionBags: readonly string[];
  /** Exported functions without a docstring. Say what they return, read or refuse, or do not export them. */
  readonly undocumented: readonly string[];
};

const FUNCTIONS = ['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression', 'ClassMethod'];
const MOST_PARAMETERS = 4;
const MOST_FUNCTION_LINES = 40;
const MOST_FILE_LINES = 300;

/** Reads every product file of a checkout. */
export function habitsOf(folder: string): Habits {
  const files = globSync(
    PRODUCT.map((root) => `${root}/**/*.ts`),
    { cwd: folder },
  ).sort();
  const texts = new Map(files.map((file) => [file, readFileSync(path.join(folder, file), 'utf8')]));
  return habitsOfFiles(texts);
}

/** The same for given texts, by file. */
export function habitsOfFiles(texts: ReadonlyMap<string, string>): Habits {
  const found = {
    spreadLiterals: [] as string[],
    optionalMembers: [] as string[],
    arrowFunctions: [] as string[],
    longParameterLists: [] as string[],
    longFunctions: [] as string[],
    longFiles: [] as string[],
  };
  const exporters = new Map<string, string[]>();
  const modules = new Map<string, Tree>();
  for (const [file, text] of texts) {
    const module = parseTree(text);
    modules.set(file, module);
    visitTree(module, (node) => {
      if (spreadOf(node)?.type === 'ObjectExpression') found.spreadLiterals.push(file);
      if (isOptionalMember(spreadOf(node))) found.optionalMembers.push(file);
      const count = parametersOf(node);
      if (count > MOST_PARAMETERS) found.longParameterLists.push(`${file}: ${nameOf(node)} has ${count}`);
    });
    for (const name of arrowFunctionsOf(module)) found.arrowFunctions.push(`${file}: ${name}`);
    for (const { name, lines } of functionLinesOf(text)) {
      if (lines > MOST_FUNCTION_LINES) found.longFunctions.push(`${file}: ${name} has ${lines} lines`);
    }
    const lines = text.trimEnd().split('\n').length;
    if (lines > MOST_FILE_LINES) found.longFiles.push(`${file} has ${lines} lines`);
    for (const name of exportsOf(module)) exporters.set(name, [...(exporters.get(name) ?? []), file]);
  }
  const shared = [...exporters].filter(([, files]) => files.length > 1);
  const sharedNames = shared.map(([name, files]) => `${name}: ${files.join(', ')}`).sort();
  return { ...found, sharedNames, optionBags: optionBagsOf(modules), undocumented: undocumentedOf(texts) };
}

/** Returns the names of a module's constants that are arrow functions and have no type. */
function arrowFunctionsOf({ body }: Tree): readonly string[] {
  return (body as readonly Tree[]).flatMap((item) => {
    const { declarations = [] } = (item['declaration'] ?? item) as {
      readonly declarations?: readonly Variable[];
    };
    return declarations.flatMap(({ id, init }) =>
      init?.type === 'ArrowFunctionExpression' && !id.typeAnnotation ? [id.value] : [],
    );
  });
}

type Variable = {
  readonly id: { readonly value: string; readonly typeAnnotation?: unknown };
  readonly init?: Tree | null;
};

/** Returns the operand of a spread, without its brackets. */
function spreadOf({ type, arguments: operand }: Tree): Tree | undefined {
  if (type !== 'SpreadElement') return undefined;
  const tree = operand as Tree;
  return tree.type === 'ParenthesisExpression' ? (tree['expression'] as Tree) : tree;
}

/** Returns true for `a === undefined ? {} : { b: a }`, also with `!==`. The member must have the tested value. */
function isOptionalMember(operand: Tree | undefined): boolean {
  if (operand?.type !== 'ConditionalExpression') return false;
  const { test, consequent, alternate } = operand as { [member: string]: Tree };
  if (test?.type !== 'BinaryExpression' || (test['right'] as Tree)['value'] !== 'undefined') return false;
  const [none, some] = test['operator'] === '===' ? [consequent, alternate] : [alternate, consequent];
  const members = some?.['properties'] as readonly Tree[] | undefined;
  const [member] = members ?? [];
  if ((none?.['properties'] as readonly Tree[] | undefined)?.length !== 0 || members?.length !== 1)
    return false;
  // The helper cannot type a computed name.
  if ((member?.['key'] as Tree | undefined)?.type === 'Computed') return false;
  const value = member?.type === 'Identifier' ? member : (member?.['value'] as Tree | undefined);
  return value !== undefined && textOf(value) === textOf(test['left'] as Tree);
}

/** Returns the text of `a` or `a.b`, and undefined for other expressions. */
function textOf({ type, value, object, property }: Tree): string | undefined {
  if (type === 'Identifier') return String(value);
  if (type !== 'MemberExpression') return undefined;
  return `${textOf(object as Tree)}.${textOf(property as Tree)}`;
}

function parametersOf(node: Tree): number {
  if (!FUNCTIONS.includes(node.type ?? '')) return 0;
  const { params } = (node['function'] ?? node) as { readonly params?: readonly unknown[] };
  return params?.length ?? 0;
}

function nameOf(node: Tree): string {
  const name = (node['identifier'] ?? node['key']) as { readonly value?: string } | undefined;
  return name?.value ?? 'a function';
}

/** Returns the names that a module declares and exports. */
function exportsOf({ body }: Tree): ReadonlySet<string> {
  const declarations = (body as readonly Tree[])
    .filter(({ type }) => type === 'ExportDeclaration')
    .map(({ declaration }) => declaration as Tree);
  const names = declarations.flatMap((declaration) =>
    declaration.type === 'VariableDeclaration'
      ? (declaration['declarations'] as readonly { readonly id: { readonly value: string } }[]).map(
          ({ id }) => id.value,
        )
      : [((declaration['identifier'] ?? declaration['id']) as { readonly value: string }).value],
  );
  return new Set(names);
}
