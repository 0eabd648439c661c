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

const LETTER = /[\p{L}\p{N}]/u;
/** Begins the text of a link or a picture. */
const LINK_START = /!?\[(?=[^[\]\n]*\]\([^()\s]*\))/g;
/** Marks a heading, a quotation or an item of a list. */
const LINE_START = /^(?:[ \t]*(?:#{1,6}(?=[ \t])|>|[-*+](?=[ \t])))+/gm;

/** Rich text on one line, without HTML and without the signs of Markdown. Its words are those of `visibleText`. */
export function plainRichText(value: string): string {
  const text = visibleText('richtext', value.replace(LINK_START, '')).replace(LINE_START, '');
  return withoutEmphasis(text).replace(/\s+/g, ' ').trim();
}

/** Omits signs around words, such as `**`: those within words or between spaces mean themselves. */
function withoutEmphasis(text: string): string {
  let open = 0;
  return text.replace(/[*_~`]+/g, (signs, at: number) => {
    const [before, after] = [text[at - 1] ?? ' ', text[at + signs.length] ?? ' '];
    if (!LETTER.test(before) && after.trim() !== '') {
      open++;
      return '';
    }
    if (open === 0 || before.trim() === '' || LETTER.test(after)) return signs;
    open--;
    return '';
  });
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
