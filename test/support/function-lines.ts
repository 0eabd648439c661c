import { parseTree, type Tree } from './syntax-tree.ts';

/** A function, and the number of its lines without those of inner functions. */
export type FunctionLines = { readonly name: string; readonly lines: number };

const FUNCTIONS: ReadonlySet<string | undefined> = new Set([
  ...['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression'],
  ...['MethodProperty', 'GetterProperty', 'SetterProperty', 'ClassMethod', 'PrivateMethod', 'Constructor'],
]);

type Span = { readonly start: number; readonly end: number };

/** Returns the lengths of all functions of a TypeScript file. */
export function functionLinesOf(text: string): readonly FunctionLines[] {
  // The tree begins at the first token. The added `;` is that token, even if the text begins with comments.
  const bytes = Buffer.from(`;${text.replace(/^#!/, '//')}`);
  const tree = parseTree(bytes.toString());
  const { start: base } = tree['span'] as Span;
  const found: FunctionLines[] = [];
  const lineBreaksIn = ({ start, end }: Span) =>
    bytes
      .subarray(start - base, end - base)
      .toString()
      .split('\n').length - 1;
  /** Returns the number of line breaks in functions of this part of the tree. */
  const walk = (node: unknown, name: string | undefined): number => {
    if (node === null || typeof node !== 'object') return 0;
    const named = nameIn(node as Tree) ?? name;
    let inner = 0;
    for (const child of Object.values(node)) inner += walk(child, named);
    if (!FUNCTIONS.has((node as Tree).type)) return inner;
    const breaks = lineBreaksIn((node as Tree)['span'] as Span);
    found.push({ name: named ?? 'a function', lines: 1 + breaks - inner });
    return breaks;
  };
  walk(tree, undefined);
  return found;
}

/** Returns the name that a declaration, a variable or a member gives to its function. */
function nameIn(node: Tree): string | undefined {
  const { identifier, id, key } = node as {
    readonly [member: string]: { readonly value?: unknown } | undefined;
  };
  const value = (identifier ?? id ?? key)?.value;
  return typeof value === 'string' ? value : undefined;
}
