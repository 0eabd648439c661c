import { RequestError } from '../../../shared/request-error.ts';

/** Deeper than any content type nests; code that walks a body by recursion is safe up to here. */
const DEPTH_LIMIT = 100;

/**
 * The JSON object or array of a request body; undefined when the body is empty. As with Strapi a scalar or `null` at the
 * root is a syntax error (SEMANTICS section 13, cases `write.body`).
 */
export function parseJsonBody(text: string): unknown {
  if (text === '') return undefined;
  const value = parse(text);
  if (typeof value !== 'object' || value === null) {
    throw syntaxError('the body must be a JSON object or array', { found: value });
  }
  if (isDeeperThan(text, DEPTH_LIMIT)) {
    throw syntaxError(`the body nests deeper than ${DEPTH_LIMIT} levels`, { accepted: DEPTH_LIMIT });
  }
  return value;
}

function parse(text: string): unknown {
  try {
    // Editors and shells on Windows begin a file with a byte order mark.
    return JSON.parse(text.startsWith('\ufeff') ? text.slice(1) : text);
  } catch (error) {
    throw syntaxError((error as Error).message, {});
  }
}

function syntaxError(message: string, details: Readonly<Record<string, unknown>>): RequestError {
  return new RequestError('invalid-json', message, details);
}

/** For JSON that is known to be well-formed. */
function isDeeperThan(text: string, limit: number): boolean {
  let depth = 0;
  let inString = false;
  for (let i = 0; i < text.length; i++) {
    const char = text.charCodeAt(i);
    if (inString) {
      if (char === BACKSLASH) i++;
      else if (char === QUOTE) inString = false;
    } else if (char === QUOTE) inString = true;
    else if (char === OPEN_BRACE || char === OPEN_BRACKET) {
      if (++depth > limit) return true;
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
