/** More levels than any content type nests. Recursion over JSON is safe up to here. */
export const MOST_JSON_LEVELS = 100;

/**
 * Parses JSON from a client. Throws a SyntaxError for text that is not JSON or nests deeper than `MOST_JSON_LEVELS`. `JSON.parse` reads any
 * depth, and later code would exhaust the stack.
 */
export function parseShallowJson(text: string): unknown {
  const value: unknown = JSON.parse(text);
  if (isTooDeep(text)) throw new SyntaxError(`it nests deeper than ${MOST_JSON_LEVELS} levels`);
  return value;
}

/** Returns whether a JSON value nests deeper than `levels`. It does not recurse, so it takes values of any depth. */
export function nestsDeeper(value: unknown, levels: number): boolean {
  let level: readonly unknown[] = [value].filter(isContainer);
  for (let depth = 0; depth < levels && level.length > 0; depth++)
    level = level.flatMap((one) => Object.values(one as object).filter(isContainer));
  return level.length > 0;
}

function isContainer(value: unknown): boolean {
  return typeof value === 'object' && value !== null;
}

/** Returns whether well-formed JSON nests deeper than `MOST_JSON_LEVELS`. */
export function isTooDeep(text: string): boolean {
  let depth = 0;
  let inString = false;
  for (let i = 0; i < text.length; i++) {
    const char = text.charCodeAt(i);
    if (inString) {
      if (char === BACKSLASH) i++;
      else if (char === QUOTE) inString = false;
    } else if (char === QUOTE) inString = true;
    else if (char === OPEN_BRACE || char === OPEN_BRACKET) {
      if (++depth > MOST_JSON_LEVELS) return true;
    } else if (char === CLOSE_BRACE || char === CLOSE_BRACKET) depth--;
  }
  return false;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
