import type { ScalarType } from '../schema/content-type.ts';
import { withoutMarkup } from './rich-text.ts';

/** The texts of an attribute's value as readers see it: of rich text without markup, of blocks (`value` is their JSON) the text nodes. */
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
