import { listText, parseList } from './blocks-list.ts';
import { type BlockNode, childrenOf, inlineText, parseInline } from './blocks-text.ts';

/** Kinds of blocks that are edited as a text. Their values are those of the choice in the form. */
export const BLOCK_KINDS: Readonly<Record<string, string>> = {
  paragraph: 'Paragraph',
  'heading 1': 'Heading 1',
  'heading 2': 'Heading 2',
  'heading 3': 'Heading 3',
  'heading 4': 'Heading 4',
  'heading 5': 'Heading 5',
  'heading 6': 'Heading 6',
  'list unordered': 'List',
  'list ordered': 'Numbered list',
  quote: 'Quote',
  code: 'Code',
};

/** A block in the form. `kind` is one of `BLOCK_KINDS`, `image`, or `json`: the block is edited as JSON. */
export type BlockRow = {
  readonly key: number;
  readonly kind: string;
  readonly text: string;
  /** The block; undefined while its text is not a block. */
  readonly node: BlockNode | undefined;
};

let keys = 0;

/** Returns the rows of blocks. A block whose text with marks would not mean the same is edited as JSON. */
export function blockRows(blocks: unknown): readonly BlockRow[] {
  return (Array.isArray(blocks) ? (blocks as readonly BlockNode[]) : []).map(rowOf);
}

function rowOf(node: BlockNode): BlockRow {
  const key = keys++;
  if (node.type === 'image') return { key, kind: 'image', text: '', node };
  const text = textOf(node);
  return text === undefined
    ? { key, kind: 'json', text: JSON.stringify(node, null, 2), node }
    : { key, kind: kindOf(node), text, node };
}

/** Returns a new row of a kind. */
export function newRow(kind: string): BlockRow {
  return withText({ key: keys++, kind, text: '', node: undefined }, '');
}

/** Returns a row with a picture. */
export function pictureRow(image: Readonly<Record<string, unknown>>): BlockRow {
  return rowOf({ type: 'image', image, children: [{ type: 'text', text: '' }] });
}

/** Returns a row with another text. Members of the block that the text does not express stay. */
export function withText(row: BlockRow, text: string): BlockRow {
  if (row.kind === 'json') return { ...row, text, node: parsedNode(text) };
  return { ...row, text, node: nodeOf(row, text) };
}

/** Returns a row whose text is a block of another kind. */
export function withKind({ key, text }: BlockRow, kind: string): BlockRow {
  return withText({ key, kind, text, node: undefined }, text);
}

function kindOf({ type, level, format }: BlockNode): string {
  if (type === 'heading') return `heading ${String(level)}`;
  return type === 'list' ? `list ${String(format)}` : type;
}

function textOf(node: BlockNode): string | undefined {
  if (!Object.hasOwn(BLOCK_KINDS, kindOf(node))) return undefined;
  if (node.type === 'code') return codeOf(childrenOf(node));
  return node.type === 'list' ? listText(node) : inlineText(childrenOf(node));
}

function codeOf(children: readonly BlockNode[]): string | undefined {
  const isPlain = children.every((child) => child.type === 'text' && Object.keys(child).length === 2);
  return isPlain ? children.map((child) => String(child['text'])).join('') : undefined;
}

function nodeOf({ kind, node }: BlockRow, text: string): BlockNode {
  const [type = '', detail] = kind.split(' ');
  const base = node?.type === type ? node : { type };
  switch (type) {
    case 'heading':
      return { ...base, level: Number(detail), children: parseInline(text) };
    case 'list':
      return { ...base, format: detail, children: parseList(text, detail ?? '') };
    case 'code':
      return { ...base, children: [{ type: 'text', text }] };
    default:
      return { ...base, children: parseInline(text) };
  }
}

function parsedNode(text: string): BlockNode | undefined {
  try {
    const found: unknown = JSON.parse(text);
    return typeof found === 'object' && found !== null && 'type' in found ? (found as BlockNode) : undefined;
  } catch {
    return undefined;
  }
}
