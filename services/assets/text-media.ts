import { extname } from 'node:path';

export type TextMedia = { readonly ext: string; readonly mime: string };

/** Text formats by file extension. Scripts and style sheets count as plain text, so that no page can run them from here. */
const BY_EXTENSION: Readonly<Record<string, string>> = {
  '.csv': 'text/csv',
  '.tsv': 'text/tab-separated-values',
  '.md': 'text/markdown',
  '.json': 'application/json',
  '.geojson': 'application/geo+json',
  '.yaml': 'application/yaml',
  '.yml': 'application/yaml',
  '.vtt': 'text/vtt',
  '.srt': 'application/x-subrip',
  '.ics': 'text/calendar',
  '.vcf': 'text/vcard',
};

const MARKUP: Readonly<Record<string, TextMedia>> = {
  svg: { ext: '.svg', mime: 'image/svg+xml' },
  html: { ext: '.html', mime: 'text/html' },
};

const XML: TextMedia = { ext: '.xml', mime: 'application/xml' };
const PLAIN: TextMedia = { ext: '.txt', mime: 'text/plain' };

/** Returns the text format of a file that begins with `head`; undefined if it is not text in UTF-8. */
export function detectText(head: Uint8Array, fileName: string): TextMedia | undefined {
  const text = decodeText(head);
  if (text === undefined) return undefined;
  const markup = MARKUP[rootElement(text)];
  if (markup !== undefined) return markup;
  if (text.trimStart().startsWith('<?xml')) return XML;
  const ext = extname(fileName).toLowerCase();
  const mime = Object.hasOwn(BY_EXTENSION, ext) ? BY_EXTENSION[ext] : undefined;
  return mime === undefined ? PLAIN : { ext, mime };
}

function decodeText(head: Uint8Array): string | undefined {
  try {
    // `stream`: the head may end inside a character.
    const text = new TextDecoder('utf-8', { fatal: true }).decode(head, { stream: true });
    return hasControlCharacters(text) ? undefined : text;
  } catch {
    return undefined;
  }
}

/** Tab, line feed, form feed, carriage return and escape are text, as in the WHATWG's MIME sniffing standard (section 3). */
function hasControlCharacters(text: string): boolean {
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code < 0x20 && code !== 0x09 && code !== 0x0a && code !== 0x0c && code !== 0x0d && code !== 0x1b)
      return true;
  }
  return false;
}

/** Local name of the first element, in lower case, after declaration, comments and document type; empty if there is none. */
function rootElement(text: string): string {
  let rest = text.trimStart();
  for (;;) {
    const end = rest.startsWith('<?')
      ? endOf(rest, '?>')
      : rest.startsWith('<!--')
        ? endOf(rest, '-->')
        : rest.startsWith('<!')
          ? endOfDocumentType(rest)
          : 0;
    if (end === 0) break;
    rest = rest.slice(end).trimStart();
  }
  const name = /^<([\w.-]+)(?::([\w.-]+))?[\s/>]/.exec(rest);
  return (name?.[2] ?? name?.[1] ?? '').toLowerCase();
}

function endOfDocumentType(text: string): number {
  const close = endOf(text, '>');
  return text.slice(0, close).includes('[') ? endOf(text, ']>') : close;
}

function endOf(text: string, mark: string): number {
  const at = text.indexOf(mark);
  return at === -1 ? text.length : at + mark.length;
}
