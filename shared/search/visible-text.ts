import type { ScalarType } from '../schema/content-type.ts';
import { withoutMarkup } from './rich-text.ts';

/**
 * Returns the text of an attribute's value that readers see. That is rich text without markup, and the text nodes of blocks (`value` is
 * their JSON).
 */
export function visibleText(type: ScalarType, value: string): string {
  if (type === 'richtext') return withoutMarkup(value);
  return type === 'blocks' ? textOfBlocks(value) : value;
}

function textOfBlocks(json: string): string {
  const blocks = parsed(json);
  return Array.isArray(blocks) ? blocks.flatMap(textsOf).join(' ').trim() : '';
}

function textsOf(node: unknown): readonly string[] {
  const { text, children } = (node ?? {}) as { readonly text?: unknown; readonly children?: unknown };
  const texts = typeof text === 'string' ? [text] : [];
  // The end of a block ends a word. Nodes inside a block may be parts of one word.
  if (Array.isArray(children)) texts.push(children.flatMap(textsOf).join(''));
  return texts;
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return null;
  }
}
