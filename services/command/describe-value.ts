/**
 * Formats a value for the messages of type errors: text in quotes, objects as indented JSON. Texts inside the JSON are quoted twice (cases
 * `write.types`).
 */
function describeValue(value: unknown): string {
  return (
    describeSimple(value) ??
    JSON.stringify(value, (_key, member: unknown) => describeSimple(member) ?? member, 2)
  );
}

function describeSimple(value: unknown): string | undefined {
  if (typeof value === 'string') return `"${value}"`;
  if (typeof value === 'number') return Object.is(value, -0) ? '-0' : String(value);
  return typeof value === 'object' && value !== null ? undefined : String(value);
}

/** Returns "x must be a `number` type, but the final value was: …". `cast` is the converted `value`. */
export function typeMessage(path: string, type: string, cast: unknown, value: unknown): string {
  const castFrom =
    value !== null && value !== undefined && !Object.is(cast, value)
      ? ` (cast from the value \`${describeValue(value)}\`).`
      : '.';
  return `${path === '' ? 'this' : path} must be a \`${type}\` type, but the final value was: \`${describeValue(cast)}\`${castFrom}`;
}
