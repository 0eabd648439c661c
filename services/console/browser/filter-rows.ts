/** A condition of a filter: the attributes on the way to a value, an operator, and its operand as it is written. */
export type FilterRow = {
  readonly path: readonly string[];
  readonly operator: string;
  readonly value: string;
};

/** Operators of the API, with their words. */
export const OPERATOR_WORDS: Readonly<Record<string, string>> = {
  $eq: 'is',
  $eqi: 'is, in any case',
  $ne: 'is not',
  $nei: 'is not, in any case',
  $lt: 'is less than',
  $lte: 'is at most',
  $gt: 'is greater than',
  $gte: 'is at least',
  $in: 'is one of (a, b)',
  $notIn: 'is none of (a, b)',
  $between: 'is between (a, b)',
  $contains: 'contains',
  $notContains: 'does not contain',
  $containsi: 'contains, in any case',
  $notContainsi: 'does not contain, in any case',
  $startsWith: 'starts with',
  $startsWithi: 'starts with, in any case',
  $endsWith: 'ends with',
  $endsWithi: 'ends with, in any case',
  $null: 'has no value',
  $notNull: 'has a value',
};

/** Operators whose operand is a list. */
const LISTS = ['$in', '$notIn', '$between'];
/** Operators whose operand is true. */
export const FLAGS = ['$null', '$notNull'];

/** Returns the parameters of rows that all have to match, such as `filters[city][name][$eq]=Lisbon`. */
export function filterQuery(rows: readonly FilterRow[]): readonly (readonly [name: string, value: string])[] {
  const isTwice = new Set(rows.map(({ path, operator }) => [...path, operator].join('.'))).size < rows.length;
  return rows.flatMap(({ path, operator, value }, i) => {
    const base = ['filters', ...(isTwice ? ['$and', String(i)] : []), ...path, operator];
    const name = base.map((part, at) => (at === 0 ? part : `[${part}]`)).join('');
    if (FLAGS.includes(operator)) return [[name, 'true'] as const];
    if (!LISTS.includes(operator)) return [[name, value] as const];
    return value.split(',').map((each, at) => [`${name}[${at}]`, each.trim()] as const);
  });
}

/**
 * Reads the filters of a query string, a path or a URL. Returns undefined for a filter with `$or`, `$not` or of another form:
 * rows cannot express it.
 */
export function parseFilterRows(text: string): readonly FilterRow[] | undefined {
  const rows = new Map<string, FilterRow>();
  for (const [name, value] of new URLSearchParams(text.slice(text.indexOf('?') + 1))) {
    if (!name.startsWith('filters[')) continue;
    const parts = name.slice('filters['.length).replace(/\]$/, '').split('][');
    const [group, names] = parts[0] === '$and' ? [parts[1] ?? '', parts.slice(2)] : ['', parts];
    const condition = conditionOf(names);
    if (condition === undefined) return undefined;
    const { path, operator } = condition;
    const key = [group, ...path, operator].join(' ');
    const before = rows.get(key);
    const shown = FLAGS.includes(operator) ? '' : value;
    rows.set(key, { path, operator, value: before === undefined ? shown : `${before.value}, ${shown}` });
  }
  return [...rows.values()];
}

/** Reads a path with its operator. An attribute alone means that it is equal. A list may have its slot behind the operator. */
function conditionOf(names: readonly string[]): Omit<FilterRow, 'value'> | undefined {
  const at = names.findIndex((name) => name.startsWith('$'));
  const path = at < 0 ? names : names.slice(0, at);
  const operator = at < 0 ? '$eq' : (names[at] ?? '');
  const isKnown = Object.hasOwn(OPERATOR_WORDS, operator);
  const behind = at < 0 ? 0 : names.length - 1 - at;
  if (!isKnown || path.length === 0 || behind > (LISTS.includes(operator) ? 1 : 0)) return undefined;
  return { path, operator };
}
