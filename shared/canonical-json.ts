/**
 * Orders JSON as PostgreSQL's jsonb does. Keys of an object are sorted by UTF-8 length, then bytewise. The last of duplicate keys wins.
 * Numbers have no needless digits. Answers show `json` and `blocks` attributes in this key order (SEMANTICS section 12). Filters compare
 * their texts (section 2).
 */
export function canonicalJson(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(canonicalJson);
  if (value === null || typeof value !== 'object') return Object.is(value, -0) ? 0 : value;
  const entries = Object.entries(value).sort(([a], [b]) => compareKeys(a, b));
  const ordered: Record<string, unknown> = Object.create(null);
  for (const [key, child] of entries) ordered[key] = canonicalJson(child);
  return ordered;
}

/**
 * Returns the text that jsonb gives a value, with a blank after each colon and comma: `{"a": 1, "b": [1, 2]}`. `value` need not be
 * canonical yet.
 */
export function jsonText(value: unknown): string {
  return writeJson(canonicalJson(value));
}

function writeJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(writeJson).join(', ')}]`;
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  const members = Object.entries(value).map(([key, child]) => `${JSON.stringify(key)}: ${writeJson(child)}`);
  return `{${members.join(', ')}}`;
}

function compareKeys(a: string, b: string): number {
  const left = Buffer.from(a);
  const right = Buffer.from(b);
  return left.length - right.length || Buffer.compare(left, right);
}
