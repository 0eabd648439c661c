const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;

/**
 * Makes a function that takes a JSON object (UTF-8, no blanks between tokens, as sources are written) and returns it with only the named
 * members. It copies members unchanged: it parses and serialises nothing.
 */
export function createMemberSelector(names: ReadonlySet<string>): (source: Uint8Array) => Buffer {
  const wanted = [...names].map((name) => Buffer.from(name));
  return (source) => selectMembers(source, wanted);
}

function selectMembers(source: Uint8Array, wanted: readonly Uint8Array[]): Buffer {
  const selected = Buffer.allocUnsafe(source.length + 1);
  selected[0] = OPEN_OBJECT;
  let length = 1;
  // Begins after the opening brace. Each iteration reads `"name":value` and the comma or brace after it.
  for (let at = 1; source[at] === QUOTE; ) {
    const nameEnd = endOfString(source, at);
    const valueEnd = endOfValue(source, nameEnd + 1);
    if (isWanted(source, at + 1, nameEnd - 1, wanted)) {
      if (length > 1) selected[length++] = COMMA;
      for (let i = at; i < valueEnd; i++) selected[length++] = source[i] as number;
    }
    at = valueEnd + 1;
  }
  selected[length++] = CLOSE_OBJECT;
  return selected.subarray(0, length);
}

function isWanted(source: Uint8Array, start: number, end: number, wanted: readonly Uint8Array[]): boolean {
  for (const name of wanted) {
    if (name.length !== end - start) continue;
    let i = 0;
    while (i < name.length && name[i] === source[start + i]) i++;
    if (i === name.length) return true;
  }
  return false;
}

/** Returns the position after the closing quote of the string that starts at `start`. */
function endOfString(source: Uint8Array, start: number): number {
  let at = start + 1;
  while (at < source.length && source[at] !== QUOTE) at += source[at] === BACKSLASH ? 2 : 1;
  return at + 1;
}

/** Returns the position of the comma or brace after the value that starts at `start`. */
function endOfValue(source: Uint8Array, start: number): number {
  let depth = 0;
  let at = start;
  while (at < source.length) {
    const byte = source[at];
    if (byte === QUOTE) {
      at = endOfString(source, at);
      continue;
    }
    if (byte === OPEN_OBJECT || byte === OPEN_LIST) depth++;
    else if (depth === 0 && (byte === COMMA || byte === CLOSE_OBJECT)) return at;
    else if (byte === CLOSE_OBJECT || byte === CLOSE_LIST) depth--;
    at++;
  }
  return at;
}
