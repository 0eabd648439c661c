import { unwrapBigint, wrapBigint } from '../../shared/json.ts';
import type { SearchRequest, SortPosition } from '../../shared/read-index/read-index.ts';
import { RequestError } from '../../shared/request-error.ts';
import { digestText, isSameText, signText } from '../../shared/text-digest.ts';

/** Key that signs the cursors of one query, and the identity of that query. */
export type CursorScope = { readonly key: Uint8Array; readonly query: string };

/** Maximum characters: together with the rest of the request, a cursor has to fit into Node's 16 KiB for request line and headers. */
const MAX_LENGTH = 8192;
const FORM = /^([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]{22})$/;

/**
 * Returns the scope of a cursor. A cursor is valid for everything that determines the rows and their order: the type, the world, the bool
 * query and the sort.
 */
export function cursorScope(key: Uint8Array, search: SearchRequest): CursorScope {
  const { type, world, query, sort } = search;
  // Lists without a search by words keep the cursors of earlier releases.
  const words = search.text === undefined ? [] : [search.text];
  const text = JSON.stringify([type, world, query, sort, ...words], wrapBigint);
  return { key, query: digestText(text) };
}

/**
 * Writes a position as an opaque text: JSON of the query's name and the sort values, signed. Throws RequestError (400) if the values are
 * too long for a URL.
 */
export function writeCursor(scope: CursorScope, position: SortPosition): string {
  const payload = Buffer.from(JSON.stringify([scope.query, ...position], wrapBigint)).toString('base64url');
  if (payload.length > MAX_LENGTH) {
    throw refusal(
      "The values sorted by are too long for a cursor: sort by a shorter attribute, or omit 'cursor'",
      payload.length,
      `at most ${MAX_LENGTH} characters`,
    );
  }
  return `${payload}.${signText(scope.key, payload)}`;
}

/** Throws RequestError (400) for a cursor that was changed, was made by another installation, or belongs to another query. */
export function readCursor(scope: CursorScope, cursor: string): SortPosition {
  const [, payload = '', signature = ''] = FORM.exec(cursor) ?? [];
  if (!isSameText(signature, signText(scope.key, payload))) {
    throw refusal('Invalid cursor', cursor, "'nextCursor' of an answer, or nothing to begin");
  }
  const text = Buffer.from(payload, 'base64url').toString();
  const [query, ...position] = JSON.parse(text, unwrapBigint) as readonly [string, ...SortPosition];
  if (query !== scope.query) {
    throw refusal(
      'This cursor belongs to another query',
      cursor,
      "'nextCursor' of the same filters, sort, status and locale",
    );
  }
  return position;
}

function refusal(message: string, found: unknown, accepted: string): RequestError {
  const details = { source: 'query', param: 'pagination', at: 'pagination[cursor]', found, accepted };
  return new RequestError('invalid-cursor', message, {
    ...details,
    problems: [{ message, ...details }],
  });
}
