import { createRecentValues } from '../../shared/recent-values.ts';

/** Position of each value: the numbers of the values in a query string, in the shape of its keys. */
type Shape = number | null | readonly Shape[] | Members;
/** Members of an object, in the order of the keys. */
type Members = { readonly names: readonly string[]; readonly items: readonly Shape[] };

/** Number of sets of keys that are remembered. A caller uses a few, each time with other values. */
const KEPT = 500;
/** Maximum characters of a remembered query string. Clients do not repeat longer ones. */
const LONGEST = 1000;

/**
 * `parse` (qs) with a cache for query strings with known keys: qs treats keys independently of the values, except for
 * empty ones. So qs parses a set of keys once, with numbers as values. Later calls replace the numbers with the values,
 * which takes a fifth of the time. If the result of qs does not have exactly one position for each value, qs parses
 * every such query string.
 */
export function createParametersParser<Parsed extends object>(
  parse: (text: string) => Parsed,
): (text: string) => Parsed {
  const shapes = createRecentValues<string, Shape | 'none'>(KEPT);
  return (text) => {
    const parts = splitParameters(text);
    if (parts === undefined) return parse(text);
    const { keys, values } = parts;
    if (keys.length > LONGEST) return parse(text);
    const known = shapes.get(keys);
    const shape = known ?? readShape(parse, keys);
    if (known === undefined) shapes.set(keys, shape);
    if (shape === 'none') return parse(text);
    const decoded = values.map((value) => value && decodeValue(value));
    return fill(shape, decoded) as Parsed;
  };
}

type Parameters = {
  /** Joined keys, with `=` if a value follows. */
  readonly keys: string;
  readonly values: readonly (string | null)[];
};

/** Splits a query string; undefined if a value is empty. A key ends where qs ends it. */
function splitParameters(text: string): Parameters | undefined {
  const clean = withBrackets(text);
  const keys: string[] = [];
  const values: (string | null)[] = [];
  const bracketAfter = createFind(clean, ']=');
  const equalsAfter = createFind(clean, '=');
  for (let at = 0, end = 0; at <= clean.length; at = end + 1) {
    const next = clean.indexOf('&', at);
    end = next < 0 ? clean.length : next;
    const bracket = bracketAfter(at);
    const equals = bracket < end ? bracket + 1 : equalsAfter(at);
    if (at === end || equals === end - 1) return undefined;
    keys.push(clean.slice(at, Math.min(equals + 1, end)));
    values.push(equals < end ? clean.slice(equals + 1, end) : null);
  }
  return { keys: keys.join('&'), values };
}

/**
 * Creates a function that finds `part` in a text from ascending positions, and reads each character only once. It returns Infinity if there
 * is none any more.
 */
function createFind(text: string, part: string): (from: number) => number {
  let found = -1;
  return (from) => {
    if (found >= from) return found;
    const next = text.indexOf(part, from);
    found = next < 0 ? Number.POSITIVE_INFINITY : next;
    return found;
  };
}

/** Replaces encoded brackets, because most clients write `%5B`. Searching for a fixed text is faster than for a pattern. */
function withBrackets(text: string): string {
  if (!text.includes('%5')) return text;
  const clean = text.replaceAll('%5B', '[').replaceAll('%5D', ']');
  return clean.includes('%5') ? clean.replaceAll('%5b', '[').replaceAll('%5d', ']') : clean;
}

function readShape(parse: (text: string) => unknown, keys: string): Shape | 'none' {
  const names = keys.split('&');
  const numbered = names.map((key, i) => (key.endsWith('=') ? `${key}${i}` : key));
  const places = new Set<number>();
  const shape = shapeOf(parse(numbered.join('&')), places);
  const valued = names.filter((key) => key.endsWith('=')).length;
  return shape !== undefined && places.size === valued ? shape : 'none';
}

/** Returns the shape of a parsed value; undefined if it contains anything else than null and the numbers of values, each once. */
function shapeOf(value: unknown, places: Set<number>): Shape | undefined {
  if (value === null) return null;
  if (typeof value === 'string') {
    const place = Number(value);
    if (places.has(place)) return undefined;
    places.add(place);
    return place;
  }
  if (typeof value !== 'object') return undefined;
  if (Array.isArray(value)) {
    const items = value.map((item) => shapeOf(item, places));
    return items.includes(undefined) ? undefined : (items as Shape[]);
  }
  const items: Shape[] = [];
  for (const item of Object.values(value)) {
    const each = shapeOf(item, places);
    if (each === undefined) return undefined;
    items.push(each);
  }
  return { names: Object.keys(value), items };
}

/** Decodes a value as qs does. */
function decodeValue(text: string): string {
  const decodable = text.includes('+') ? text.replaceAll('+', ' ') : text;
  if (!decodable.includes('%')) return decodable;
  try {
    return decodeURIComponent(decodable);
  } catch {
    return decodable;
  }
}

function fill(shape: Shape, values: readonly (string | null)[]): unknown {
  if (shape === null) return null;
  if (typeof shape === 'number') return values[shape];
  if (isList(shape)) return shape.map((item) => fill(item, values));
  const { names, items } = shape;
  const filled: { [name: string]: unknown } = Object.create(NOTHING);
  for (let i = 0; i < names.length; i++) filled[names[i] as string] = fill(items[i] as Shape, values);
  return filled;
}

/** Prototype without members. V8 keeps an object that has no prototype as a hash table, whose entries take longer to list. */
const NOTHING: object = Object.freeze(Object.create(null));

function isList(shape: Shape): shape is readonly Shape[] {
  return Array.isArray(shape);
}
