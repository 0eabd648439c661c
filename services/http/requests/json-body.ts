import { isTooDeep, MOST_JSON_LEVELS } from '../../../shared/json-depth.ts';
import { RequestError } from '../../../shared/request-error.ts';

/**
 * Returns the JSON object or array of a request body; undefined if the body is empty. A scalar or `null` at the root is a syntax error, as
 * in Strapi (SEMANTICS section 13, cases `write.body`).
 */
export function parseJsonBody(text: string): unknown {
  if (text === '') return undefined;
  const value = parse(text);
  if (typeof value !== 'object' || value === null) {
    throw syntaxError('the body must be a JSON object or array', { found: value });
  }
  if (isTooDeep(text)) {
    const message = `the body nests deeper than ${MOST_JSON_LEVELS} levels`;
    throw syntaxError(message, { accepted: MOST_JSON_LEVELS });
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
