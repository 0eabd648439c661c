import { decodeHTMLStrict } from 'entities/decode';

/** Result for a code that is not a character. */
const REPLACEMENT = '\ufffd';

/** The characters that `&eacute;`, `&#233;` or `&#xe9;` are; undefined: none. */
export function decodeEntity(entity: string): string | undefined {
  const text = decodeHTMLStrict(entity);
  return text === entity || text === REPLACEMENT ? undefined : text;
}
