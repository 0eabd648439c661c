import { createHash } from 'node:crypto';

/** Maximum length of a name in databases of Strapi 5. Strapi 4 does not shorten names. */
const MAX_NAME = 55;
const DIGEST = 5;

/** Returns a name in the form of Strapi's columns: `seoH1Title` is `seo_h_1_title`. */
export function snakeCase(name: string): string {
  return (name.match(/[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+/g) ?? []).join('_').toLowerCase();
}

/** Returns the names that a table or column may have: that of Strapi 5, which may be shortened, and that of Strapi 4. */
export function databaseNames(parts: readonly string[], suffixes: readonly string[]): readonly string[] {
  const [short = '', ...others] = suffixes;
  return [shortened(parts, short), ...others.map((suffix) => [...parts, suffix].join('_'))];
}

/** Shortens the parts of a name evenly, as Strapi 5 does: a part that is cut ends with the digest of the whole part. */
function shortened(parts: readonly string[], suffix: string): string {
  const tail = suffix === '' ? [] : [suffix];
  const whole = [...parts, ...tail].join('_');
  if (whole.length <= MAX_NAME) return whole;
  const separators = parts.length + tail.length - 1;
  const available = MAX_NAME - suffix.length - separators;
  const each = Math.floor(available / parts.length);
  const lengths = parts.map(({ length }) => Math.min(length, each));
  let surplus = available - lengths.reduce((sum, length) => sum + length, 0);
  const canGrow = (at: number) => (lengths[at] ?? 0) < (parts[at]?.length ?? 0);
  while (surplus > 0 && parts.some((_, at) => canGrow(at))) {
    for (let at = 0; at < parts.length && surplus > 0; at++) {
      if (!canGrow(at)) continue;
      lengths[at] = (lengths[at] ?? 0) + 1;
      surplus--;
    }
  }
  return [...parts.map((part, at) => cut(part, lengths[at] ?? 0)), ...tail].join('_');
}

function cut(part: string, length: number): string {
  if (part.length <= length) return part;
  const digest = createHash('shake256', { outputLength: Math.ceil(DIGEST / 2) })
    .update(part)
    .digest('hex');
  return part.slice(0, length - DIGEST) + digest.slice(0, DIGEST);
}

/** Returns a name as part of a statement, in SQLite and PostgreSQL. */
export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
