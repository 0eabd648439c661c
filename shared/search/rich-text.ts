import { decodeEntity } from './decode-entity.ts';

/**
 * Matches the address of a link, with its title: `(address "title")`. The number of spaces is limited, because a pattern with an unlimited
 * number would read them repeatedly.
 */
const TARGET =
  '\\(\\s{0,9}(?:<[^<>\\n]*>|[^\\s()<>]*(?:\\([^\\s()]*\\)[^\\s()<>]*)*)' +
  '(?:\\s{1,9}(?:"[^"]*"|\'[^\']*\'|\\([^()]*\\)))?\\s{0,9}\\)';
/** Matches a tag, whose attributes may have `>` in quotes. An address in angle brackets is not a tag, because readers see it. */
const TAG_NAME = '<\\/?[a-z][a-z0-9-]*(?=[\\s/>])';
const TAG = `${TAG_NAME}(?:"[^"<]*"|'[^'<]*'|[^'"<>])*>|${TAG_NAME}[^<>]*>|<[!?][^<>]*>`;
const ENTITY = '&(?:#\\d{1,7}|#x[\\da-f]{1,6}|[a-z]{2,31}\\d{0,2});';
const MARKUP = new RegExp(`${TAG}|\\]${TARGET}|\\]\\[([^[\\]\\n]*)\\]|${ENTITY}`, 'gi');
/** Matches the beginning of a link's or picture's text. */
const LINK_START = new RegExp(`!?\\[(?=[^[\\]\\n]*\\]${TARGET})`, 'g');
/** Matches `[label]: address "title"`, which defines links with that label. A footnote is not matched, because it has a text. */
const DEFINITION =
  /^ {0,3}\[(?!\^)([^[\]\n]{1,200})\]:[ \t]{0,9}(?:<[^<>\n]*>|[^\s<>]+)(?:[ \t]{1,9}(?:"[^"\n]*"|'[^'\n]*'|\([^()\n]*\)))?[ \t]{0,9}\r?$/gm;
/** Matches the signs of a heading, a quotation or a list item. */
const LINE_START = /^(?:[ \t]*(?:#{1,6}(?=[ \t])|>|[-*+](?=[ \t])))+/gm;
const LETTER = /[\p{L}\p{N}]/u;

/** Returns rich text without HTML, and without addresses and titles of links. The signs of Markdown remain. */
export function withoutMarkup(value: string): string {
  const shown = value.includes('<') ? withoutHidden(value) : value;
  if (!/[<\]&]/.test(shown)) return shown;
  const labels = new Set<string>();
  const text = shown.includes(']:')
    ? shown.replace(DEFINITION, (_, label: string) => {
        labels.add(nameOfLabel(label));
        return ' ';
      })
    : shown;
  return text.replace(MARKUP, (markup, label: string | undefined) => {
    if (markup.startsWith('&')) return decodeEntity(markup) ?? ' ';
    // If the label is not defined, this is text in brackets.
    return label === undefined || label === '' || labels.has(nameOfLabel(label)) ? ' ' : markup;
  });
}

function nameOfLabel(label: string): string {
  return label.trim().toLowerCase().replace(/\s+/g, ' ');
}

/** Returns rich text on one line, without HTML and without the signs of Markdown. Its words are those of `withoutMarkup`. */
export function plainRichText(value: string): string {
  const text = withoutMarkup(value.replace(LINK_START, '')).replace(LINE_START, '');
  return withoutEmphasis(text).replace(/\s+/g, ' ').trim();
}

type Hidden = { readonly start: RegExp; readonly end: RegExp };

/** Parts that no reader sees: comments, styles and scripts. A part without an end is text. */
const HIDDEN: readonly Hidden[] = [
  { start: /<!--/g, end: /-->/g },
  { start: /<script(?=[\s>])/gi, end: /<\/script\s{0,9}>/gi },
  { start: /<style(?=[\s>])/gi, end: /<\/style\s{0,9}>/gi },
];

function withoutHidden(text: string): string {
  return HIDDEN.reduce(withoutParts, text);
}

/** Removes parts. It reads each character once, even if many parts begin. */
function withoutParts(text: string, { start, end }: Hidden): string {
  const parts: string[] = [];
  let from = 0;
  for (let at = find(start, text, 0); at !== undefined; at = find(start, text, from)) {
    const stop = find(end, text, at.end);
    if (stop === undefined) break;
    parts.push(text.slice(from, at.start));
    from = stop.end;
  }
  return from === 0 ? text : [...parts, text.slice(from)].join(' ');
}

function find(pattern: RegExp, text: string, from: number) {
  pattern.lastIndex = from;
  const found = pattern.exec(text);
  return found === null ? undefined : { start: found.index, end: pattern.lastIndex };
}

/** Removes signs around words, such as `**`. Signs within words or between spaces are ordinary characters. */
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
