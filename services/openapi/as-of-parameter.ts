import { queryParameter, withParameters } from './document-parts.ts';
import type { Paths } from './openapi-types.ts';

const AS_OF_PARAMETER = queryParameter(
  'asOf',
  'Answers with the content of a moment: a position of the log, such as the `Varve-Position` of a write, or an instant with a time zone. An instant to come is a preview of scheduled releases, for callers who may see drafts. While the moment is opened, the answer is a 503 with `Retry-After`. Not for streams. With `/_varve/timegate` in front of the address and the header `Accept-Datetime`, a GET is redirected to that moment (RFC 7089).',
  {
    anyOf: [
      { type: 'string', pattern: '^\\d{1,20}$' },
      { type: 'string', format: 'date-time' },
    ],
  },
);

/** Adds to the reads of content the parameter for a moment of the past, for callers with the right `history`. */
export function withAsOf(paths: Paths): Paths {
  const described = Object.entries(paths).map(([path, { get, ...others }]) => [
    path,
    get === undefined ? others : { get: withParameters(get, AS_OF_PARAMETER), ...others },
  ]);
  return Object.fromEntries(described);
}
