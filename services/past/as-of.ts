import { z } from 'zod';
import { RequestError } from '../../shared/request-error.ts';
import { AS_OF } from '../query/root-parameters.ts';

/** State of the log that a caller asks for: its events up to a position, or up to the last one before an instant (ms since 1970). */
export type AsOf =
  | { readonly kind: 'position'; readonly position: bigint }
  | { readonly kind: 'instant'; readonly at: number };

/** A request target without `asOf`, and the texts that were given for it. */
export type AskedPast = { readonly given: readonly string[]; readonly url: string };

const NAMED = /^asOf(?:$|=|\[|%5B)/i;
const POSITION = /^\d{1,20}$/;
const INSTANT = z.iso.datetime({ offset: true });

/**
 * Returns what a request target says about `asOf`; undefined if it does not ask for the past. A target without the word costs one look.
 * The planner refuses a name that is encoded in another way.
 */
export function askedPast(url: string): AskedPast | undefined {
  if (!url.includes(AS_OF)) return undefined;
  const [path = '', ...rest] = url.split('?');
  const parts = rest.join('?').split('&');
  const given = parts.filter((part) => NAMED.test(part));
  if (given.length === 0) return undefined;
  const others = parts.filter((part) => !NAMED.test(part)).join('&');
  return { given, url: others === '' ? path : `${path}?${others}` };
}

/** Reads the one value of `asOf`. Throws RequestError (400) with what is accepted. */
export function parseAsOf([first = '', ...others]: readonly string[]): AsOf {
  const text = decode(first);
  if (others.length > 0 || text === undefined) throw refusedAsOf(text ?? first);
  if (POSITION.test(text)) return { kind: 'position', position: BigInt(text) };
  if (!INSTANT.safeParse(text).success) throw refusedAsOf(text);
  return { kind: 'instant', at: Date.parse(text) };
}

/** Returns the value; undefined if it is not one text. A plus sign stays one, because it begins a time zone. */
function decode(part: string): string | undefined {
  if (!part.startsWith(`${AS_OF}=`)) return undefined;
  try {
    return decodeURIComponent(part.slice(AS_OF.length + 1));
  } catch {
    return undefined;
  }
}

const ACCEPTED =
  'a position of the log, such as the Varve-Position of a write, or an instant in ISO 8601 with a time zone, such as 2026-03-01T12:00:00Z';

/** Returns the refusal of a value of `asOf`. */
export function refusedAsOf(
  found: string,
  message = `Invalid parameter at '${AS_OF}'`,
  accepted = ACCEPTED,
): RequestError {
  return new RequestError('invalid-query', message, { source: 'query', param: AS_OF, found, accepted });
}
