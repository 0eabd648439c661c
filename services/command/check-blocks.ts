import { canonicalJson } from '../../shared/canonical-json.ts';
import { parseShallowJson } from '../../shared/json-depth.ts';
import { isRecord } from '../../shared/json-record.ts';
import { plainText } from '../../shared/plain-text.ts';
import { type Check, report, reportType } from './check.ts';
import { typeMessage } from './describe-value.ts';

type Node = { readonly [key: string]: unknown };
type NodeCheck = (check: Check, path: string, node: Node) => void;
/** Types of nodes that a list may have, each with its check. `message`: the message for any other type. */
type NodeKinds = { readonly checks: { readonly [type: string]: NodeCheck }; readonly message: string };

const INLINE = 'Inline node must be Text or Link';
const HEADING_LEVELS = [1, 2, 3, 4, 5, 6];
const MARKS = ['bold', 'italic', 'underline', 'strikethrough', 'code'];
/** Required members of an image, in Strapi's order. */
const IMAGE_MEMBERS = {
  name: 'string',
  url: 'string',
  width: 'number',
  height: 'number',
  hash: 'string',
  ext: 'string',
  mime: 'string',
  size: 'number',
  provider: 'string',
  createdAt: 'string',
  updatedAt: 'string',
};
const LINK_PROTOCOLS = new Set(['http:', 'https:', 'ftp:', 'mailto:', 'tel:']);

/** Validates a blocks attribute (rich text as a tree, Strapi's grammar); the stored form has its keys in canonical order. */
export function checkBlocks(check: Check, path: string, value: unknown): unknown {
  const blocks = castArray(value);
  if (!Array.isArray(blocks)) return report(check, path, typeMessage(path, 'array', blocks, value), value);
  checkNodes(check, path, blocks, { checks: BLOCKS, message: 'Block node is of invalid type' });
  return canonicalJson(blocks);
}

/** Text may be the JSON text of an array; other text becomes null, which is then refused. */
function castArray(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  try {
    const parsed = parseShallowJson(value);
    return Array.isArray(parsed) ? parsed : null;
  } catch {
    return null;
  }
}

function checkNodes(
  check: Check,
  path: string,
  nodes: readonly unknown[],
  { checks, message }: NodeKinds,
): void {
  for (const [index, node] of nodes.entries()) {
    const type = isRecord(node) ? node['type'] : undefined;
    const checkNode = typeof type === 'string' && Object.hasOwn(checks, type) ? checks[type] : undefined;
    if (checkNode === undefined || !isRecord(node)) report(check, `${path}[${index}]`, message, node);
    else checkNode(check, `${path}[${index}]`, node);
  }
}

/** `empty`: message if there is no child; undefined if none is allowed. */
function children(
  kinds: () => { readonly [type: string]: NodeCheck },
  message: string,
  empty: string | undefined,
): NodeCheck {
  return (check, path, node) => {
    const nodes = node['children'];
    const at = `${path}.children`;
    if (nodes === undefined || nodes === null) report(check, at, `${at} is a required field`);
    else if (!Array.isArray(nodes)) reportType(check, at, 'array', nodes);
    else if (nodes.length === 0 && empty !== undefined) report(check, at, empty, nodes);
    else checkNodes(check, at, nodes, { checks: kinds(), message });
  };
}

const checkText: NodeCheck = (check, path, node) => {
  if (typeof node['text'] !== 'string') {
    report(check, `${path}.text`, 'Text must be defined with at least an empty string', node['text']);
  }
  for (const mark of MARKS) {
    const value = node[mark];
    if (value !== undefined && typeof value !== 'boolean') {
      reportType(check, `${path}.${mark}`, 'boolean', value);
    }
  }
};

const checkLink: NodeCheck = (check, path, node) => {
  if (!isLink(node['url'])) report(check, `${path}.url`, 'Please specify a valid link.', node['url']);
  children(() => TEXTS, INLINE, undefined)(check, path, node);
};

function isLink(url: unknown): boolean {
  if (typeof url !== 'string') return false;
  const parsed = URL.parse(url.startsWith('/') ? `https://localhost${url}` : url);
  return parsed !== null && LINK_PROTOCOLS.has(parsed.protocol);
}

const checkHeading: NodeCheck = (check, path, node) => {
  const level = node['level'] ?? null;
  if (level === null) report(check, `${path}.level`, `${path}.level is a required field`);
  else if (!HEADING_LEVELS.includes(Number(typeof level === 'object' ? plainText(level) : level))) {
    const message = `${path}.level must be one of the following values: ${HEADING_LEVELS.join(', ')}`;
    report(check, `${path}.level`, message, level);
  }
  children(() => INLINES, INLINE, 'Heading node children must have at least one Text or Link node')(
    check,
    path,
    node,
  );
};

const checkList: NodeCheck = (check, path, node) => {
  if (node['format'] !== 'ordered' && node['format'] !== 'unordered') {
    const message = `${path}.format must be one of the following values: ordered, unordered`;
    report(check, `${path}.format`, message, node['format']);
  }
  const empty = 'List node children must have at least one ListItem or ListNode';
  children(() => LIST_CHILDREN, 'Inline node must be list-item or list', empty)(check, path, node);
};

const checkImage: NodeCheck = (check, path, node) => {
  const image = node['image'];
  const members = isRecord(image) ? image : {};
  for (const [name, type] of Object.entries(IMAGE_MEMBERS)) {
    const at = `${path}.image.${name}`;
    const value = members[name];
    if (value === undefined || value === null) report(check, at, `${at} is a required field`);
    else if (typeof value !== type) reportType(check, at, type, value);
  }
  children(() => INLINES, INLINE, undefined)(check, path, node);
};

const TEXTS: { readonly [type: string]: NodeCheck } = { text: checkText };
const INLINES: { readonly [type: string]: NodeCheck } = { text: checkText, link: checkLink };
const LIST_CHILDREN: { readonly [type: string]: NodeCheck } = {
  list: checkList,
  'list-item': children(() => INLINES, INLINE, undefined),
};
const BLOCKS: { readonly [type: string]: NodeCheck } = {
  paragraph: children(
    () => INLINES,
    INLINE,
    'Paragraph node children must have at least one Text or Link node',
  ),
  heading: checkHeading,
  quote: children(() => INLINES, INLINE, 'Quote node children must have at least one Text or Link node'),
  list: checkList,
  image: checkImage,
  code: children(() => TEXTS, INLINE, 'Quote node children must have at least one Text or Link node'),
};
