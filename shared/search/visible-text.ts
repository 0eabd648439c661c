import type { ScalarType } from '../schema/content-type.ts';

const MARKUP = /<[^<>]*>|\]\([^()\s]*\)|&[a-z]+;/gi;

/**
 * The texts of an attribute's value as readers see it, as long as the value was or shorter: markup of rich text is blank, of
 * blocks the text nodes are left. `value` is what the index holds: of blocks their JSON.
 */
export function visibleText(type: ScalarType, value: string): string {
  if (type === 'richtext') return value.replace(MARKUP, (markup) => ' '.repeat(markup.length));
  return type === 'blocks' ? textOfBlocks(value) : value;
}

function textOfBlocks(json: string): string {
  const blocks = parsed(json);
  const texts: string[] = [];
  if (Array.isArray(blocks)) for (const block of blocks) addTexts(block, texts);
  return texts.join(' ').trim();
}

function addTexts(node: unknown, texts: string[]): void {
  const { text, children } = (node ?? {}) as { readonly text?: unknown; readonly children?: unknown };
  if (typeof text === 'string') texts.push(text);
  // A block ends a word; what it has inside may be parts of one.
  if (Array.isArray(children)) texts.push(textOfInline(children));
}

function textOfInline(children: readonly unknown[]): string {
  const texts: string[] = [];
  for (const child of children) addTexts(child, texts);
  return texts.join('');
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return null;
  }
}
