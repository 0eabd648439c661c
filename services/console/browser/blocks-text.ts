/** A node of Strapi's blocks. Its other members depend on its type. */
export type BlockNode = { readonly type: string; readonly [member: string]: unknown };

/** Marks of a text, with the signs that begin and end them. Longer signs come first. */
const SIGNS = [
  ['**', 'bold'],
  ['__', 'underline'],
  ['~~', 'strikethrough'],
  ['*', 'italic'],
  ['`', 'code'],
] as const;
const MARKS = SIGNS.map(([, mark]) => mark);
type Mark = (typeof MARKS)[number];
type Run = { readonly text: string; readonly marks: readonly Mark[] };

/** Returns texts and links as one text with marks; undefined if the text would not mean the same nodes. */
export function inlineText(nodes: readonly BlockNode[]): string | undefined {
  const text = writeNodes(nodes);
  return isSame(parseInline(text), tidied(nodes)) ? text : undefined;
}

/** Reads a text with marks: `**bold**`, `*italic*`, `__underlined__`, `~~struck~~`, a code in backticks and `[text](address)`. */
export function parseInline(text: string): readonly BlockNode[] {
  const nodes: BlockNode[] = [];
  let from = 0;
  for (const found of text.matchAll(/(?<!\\)(?:\\\\)*\[((?:[^\]\\[]|\\.)*)\]\(([^()\s]*)\)/gs)) {
    const start = found.index + found[0].indexOf('[');
    nodes.push(...parseTexts(text.slice(from, start)));
    nodes.push({ type: 'link', url: found[2], children: orEmpty(parseTexts(found[1] ?? '')) });
    from = found.index + found[0].length;
  }
  return orEmpty([...nodes, ...parseTexts(text.slice(from))]);
}

/** Returns whether two values are the same JSON, in whatever order members are. */
export function isSame(a: unknown, b: unknown): boolean {
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return Object.is(a, b);
  const [first, second] = [Object.entries(a), Object.entries(b)];
  if (Array.isArray(a) !== Array.isArray(b) || first.length !== second.length) return false;
  return first.every(([name, value]) => Object.hasOwn(b, name) && isSame(value, (b as Json)[name]));
}

type Json = Readonly<Record<string, unknown>>;

function writeNodes(nodes: readonly BlockNode[]): string {
  let text = '';
  let pending: BlockNode[] = [];
  for (const node of nodes) {
    if (node.type !== 'link') pending.push(node);
    else {
      text += `${writeTexts(pending)}[${writeTexts(childrenOf(node))}](${String(node['url'])})`;
      pending = [];
    }
  }
  return text + writeTexts(pending);
}

function writeTexts(nodes: readonly BlockNode[]): string {
  let open: readonly Mark[] = [];
  let text = '';
  for (const { text: plain, marks } of nodes.map(runOf)) {
    if (plain === '') continue;
    text += toggles(open, marks) + escaped(plain);
    open = marks;
  }
  return text + toggles(open, []);
}

function toggles(before: readonly Mark[], after: readonly Mark[]): string {
  return SIGNS.filter(([, mark]) => before.includes(mark) !== after.includes(mark))
    .map(([sign]) => sign)
    .join('');
}

/** One underscore or tilde means itself, unless it could join a sign. */
function escaped(text: string): string {
  return text.replaceAll(/[\\*`[\]]|(?<=^|[_~])[_~]|[_~](?=$|[_~])/g, '\\$&');
}

function parseTexts(text: string): readonly BlockNode[] {
  const runs: Run[] = [];
  let marks: readonly Mark[] = [];
  let plain = '';
  const flush = () => {
    if (plain !== '') runs.push({ text: plain, marks });
    plain = '';
  };
  for (let at = 0; at < text.length; ) {
    const [sign, mark] = SIGNS.find(([each]) => text.startsWith(each, at)) ?? [];
    if (sign !== undefined && mark !== undefined) {
      flush();
      marks = marks.includes(mark) ? marks.filter((each) => each !== mark) : [...marks, mark];
      at += sign.length;
      continue;
    }
    if (text[at] === '\\' && at + 1 < text.length) at++;
    plain += text[at];
    at++;
  }
  flush();
  return runs.map(nodeOfRun);
}

function runOf(node: BlockNode): Run {
  return { text: String(node['text']), marks: MARKS.filter((mark) => node[mark] === true) };
}

function nodeOfRun({ text, marks }: Run): BlockNode {
  const set = Object.fromEntries(MARKS.filter((mark) => marks.includes(mark)).map((mark) => [mark, true]));
  return { type: 'text', text, ...set };
}

function orEmpty(nodes: readonly BlockNode[]): readonly BlockNode[] {
  return nodes.length === 0 ? [{ type: 'text', text: '' }] : nodes;
}

/** Returns texts and links without empty texts, and with texts of the same marks joined. */
export function tidied(nodes: readonly BlockNode[]): readonly BlockNode[] {
  const kept: BlockNode[] = [];
  for (const node of nodes) {
    const last = kept.at(-1);
    if (node.type === 'link') kept.push({ ...node, children: tidied(childrenOf(node)) });
    else if (node.type !== 'text' || unknownMembers(node)) kept.push(node);
    else if (node['text'] === '') continue;
    else if (last?.type === 'text' && String(runOf(last).marks) === String(runOf(node).marks))
      kept.splice(-1, 1, nodeOfRun({ text: `${last['text']}${node['text']}`, marks: runOf(node).marks }));
    else kept.push(nodeOfRun(runOf(node)));
  }
  return orEmpty(kept);
}

function unknownMembers(node: BlockNode): boolean {
  return Object.keys(node).some((name) => !['type', 'text', ...MARKS].includes(name));
}

/** Returns the nodes in a node. */
export function childrenOf(node: BlockNode): readonly BlockNode[] {
  const { children } = node as { readonly children?: unknown };
  return Array.isArray(children) ? (children as readonly BlockNode[]) : [];
}
