import { decodeHTMLStrict } from 'entities/decode';

/** Result of the decoder for a code that is not a character. */
const REPLACEMENT = '\ufffd';

/** Returns the characters of an entity such as `&eacute;`, `&#233;` or `&#xe9;`; undefined if it is not one. */
export function decodeEntity(entity: string): string | undefined {
  const text = decodeHTMLStrict(entity);
  return text === entity || text === REPLACEMENT ? undefined : text;
}
