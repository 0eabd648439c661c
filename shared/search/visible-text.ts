import type { ScalarType } from '../schema/content-type.ts';
import { withoutMarkup } from './rich-text.ts';

/**
 * Returns the text of an attribute's value that readers see: rich text without markup, and the text nodes of blocks (`value` is their
 * JSON).
 */
export function visibleText(type: ScalarType, value: string): string {
  if (type === 'richtext') return withoutMarkup(value);
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
  // The end of a block ends a word. Nodes inside a block may be parts of one word.
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
