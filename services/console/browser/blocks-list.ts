import { type BlockNode, childrenOf, inlineText, isSame, parseInline, tidied } from './blocks-text.ts';

const LINE = /^( *)(?:-|\d+\.) (.*)$/;

/** Returns a list as lines such as `- one` and `  1. nested`; undefined if they would not mean the same list. */
export function listText(list: BlockNode): string | undefined {
  const text = linesOf(list, 0);
  const again = text === undefined ? [] : parseList(text, String(list['format']));
  return isSame(again.map(comparable), childrenOf(list).map(comparable)) ? text : undefined;
}

/** The level of a nested list follows from where it is. */
function comparable({ indentLevel: _, ...node }: BlockNode): unknown {
  const children = childrenOf(node as BlockNode);
  return { ...node, children: node['type'] === 'list' ? children.map(comparable) : tidied(children) };
}

function linesOf(list: BlockNode, depth: number): string | undefined {
  const sign = list['format'] === 'ordered' ? '1.' : '-';
  const lines = childrenOf(list).map((child) => {
    if (child.type === 'list') return linesOf(child, depth + 1);
    const text = inlineText(childrenOf(child));
    return text === undefined || text.includes('\n') ? undefined : `${'  '.repeat(depth)}${sign} ${text}`;
  });
  return lines.includes(undefined) ? undefined : lines.join('\n');
}

type Line = { readonly depth: number; readonly format: string; readonly text: string };

/** Reads the items of a list. A line without a sign is an item, too. Two blanks more than before begin a nested list. */
export function parseList(text: string, format: string): readonly BlockNode[] {
  const lines = text.split('\n').map((line): Line => {
    const [, blanks = '', item] = LINE.exec(line) ?? [];
    if (item === undefined) return { depth: 0, format, text: line.trim() };
    const isOrdered = /^ *\d/.test(line);
    return { depth: Math.floor(blanks.length / 2), format: isOrdered ? 'ordered' : 'unordered', text: item };
  });
  return itemsOf(lines, 0);
}

function itemsOf(lines: readonly Line[], depth: number): readonly BlockNode[] {
  const nodes: BlockNode[] = [];
  for (let at = 0; at < lines.length; ) {
    const line = lines[at] as Line;
    if (line.depth <= depth) {
      nodes.push({ type: 'list-item', children: parseInline(line.text) });
      at++;
      continue;
    }
    const end = lines.findIndex((each, i) => i > at && each.depth <= depth);
    const inner = lines.slice(at, end < 0 ? undefined : end);
    const { format } = line;
    nodes.push({ type: 'list', format, indentLevel: depth + 1, children: itemsOf(inner, depth + 1) });
    at += inner.length;
  }
  return nodes;
}
