const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;

const latin1 = new TextDecoder('latin1');

/**
 * The members of a JSON object (UTF-8, without blanks between tokens, as sources are written) whose names are in `names`, joined by
 * commas and without braces. Names that need escapes or are not ASCII never match: attribute names are ASCII identifiers.
 */
export function selectMembers(source: Uint8Array, names: ReadonlySet<string>): Buffer {
  const chunks: Uint8Array[] = [];
  // Behind the opening brace; each turn reads `"name":value` and the comma or brace after it.
  let at = 1;
  while (source[at] === QUOTE) {
    const start = at;
    const nameEnd = endOfString(source, start);
    const valueEnd = endOfValue(source, nameEnd + 1);
    if (names.has(latin1.decode(source.subarray(start + 1, nameEnd - 1)))) {
      if (chunks.length > 0) chunks.push(COMMA_BYTES);
      chunks.push(source.subarray(start, valueEnd));
    }
    at = valueEnd + 1;
  }
  return Buffer.concat(chunks);
}

const COMMA_BYTES = Buffer.from(',');

/** Position behind the closing quote of the string that starts at `start`. */
function endOfString(source: Uint8Array, start: number): number {
  let at = start + 1;
  for (; at < source.length; at++) {
    const byte = source[at];
    if (byte === BACKSLASH) at++;
    else if (byte === QUOTE) return at + 1;
  }
  return at;
}

/** Position of the comma or brace that ends the value starting at `start`. */
function endOfValue(source: Uint8Array, start: number): number {
  let depth = 0;
  for (let at = start; at < source.length; at++) {
    const byte = source[at];
    if (byte === QUOTE) at = endOfString(source, at) - 1;
    else if (byte === OPEN_OBJECT || byte === OPEN_LIST) depth++;
    else if (byte === COMMA && depth === 0) return at;
    else if (byte === CLOSE_OBJECT || byte === CLOSE_LIST) {
      if (depth === 0) return at;
      depth--;
    }
  }
  return source.length;
}
