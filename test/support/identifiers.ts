import { parseTree, visitTree } from './syntax-tree.ts';

/** Splits an identifier into lower-case words: `isDiskFull` becomes `is`, `disk`, `full`. */
export function wordsOf(identifier: string): readonly string[] {
  return identifier
    .replace(/([a-z\d])([A-Z])/g, '$1 $2')
    .replace(/([A-Z]+)([A-Z][a-z])/g, '$1 $2')
    .split(/[^A-Za-z\d]+/)
    .filter((word) => word !== '')
    .map((word) => word.toLowerCase());
}

/** Returns every name in a TypeScript file once: variables, functions, types, members and parameters. */
export function identifiersOf(text: string): ReadonlySet<string> {
  const found = new Set<string>();
  visitTree(parseTree(text), ({ type, value }) => {
    if (type === 'Identifier' && typeof value === 'string') found.add(value);
  });
  return found;
}
