import { parseSync } from '@swc/core';

/** A node of a file's syntax tree. */
export type Tree = { readonly type?: string; readonly [member: string]: unknown };

/** Parses TypeScript. */
export function parseTree(text: string): Tree {
  return parseSync(text, { syntax: 'typescript', target: 'es2024' }) as unknown as Tree;
}

/** Calls `look` for every node. */
export function visitTree(node: unknown, look: (node: Tree) => void): void {
  if (node === null || typeof node !== 'object') return;
  if (!Array.isArray(node) && typeof (node as Tree).type === 'string') look(node as Tree);
  for (const child of Object.values(node)) visitTree(child, look);
}
