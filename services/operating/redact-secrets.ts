const SECRET_KEY =
  /^(authorization|cookie|set-cookie|password|passwd|secret|token|accesskey|api-?_?key|x-api-key|x-algolia-(?:api-key|application-id))$/i;
const HIDDEN = '[redacted]';
const DEPTH = 8;

/** Options that make pino write lines without secrets. */
export const REDACTING = {
  formatters: { log: (line: object) => redactSecrets(line) as Record<string, unknown> },
  // Pino's own serializer would serialize a redacted error again, because it looks like an error.
  serializers: { err: (redacted: unknown) => redacted },
};

/**
 * Hides secrets in a value for a log line: members by their key, credentials in URLs and bearer tokens in text. Drivers put whole requests
 * into their errors, so all of the value is searched. This happens for each log line and not for each request.
 */
export function redactSecrets(value: unknown, depth = DEPTH): unknown {
  if (typeof value === 'string') return redactText(value);
  if (typeof value !== 'object' || value === null) return value;
  if (depth === 0) return HIDDEN;
  if (value instanceof Error) return redactError(value, depth);
  if (Array.isArray(value)) return value.map((item) => redactSecrets(item, depth - 1));
  if (ArrayBuffer.isView(value)) return `${value.byteLength} bytes`;
  return redactEntries(value, depth);
}

function redactError(error: Error, depth: number): object {
  const { name, message, stack, cause } = error;
  return {
    type: name,
    message: redactText(message),
    stack: redactText(stack ?? ''),
    ...redactEntries(error, depth),
    ...(cause === undefined ? {} : { cause: redactSecrets(cause, depth - 1) }),
  };
}

function redactEntries(value: object, depth: number): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [
      key,
      SECRET_KEY.test(key) ? HIDDEN : redactSecrets(each, depth - 1),
    ]),
  );
}

function redactText(text: string): string {
  return (
    text
      .replace(/\b(Bearer|Basic|ApiKey) +[\w.~+/=-]+/gi, `$1 ${HIDDEN}`)
      // Algolia's clients for browsers send their application and key in the query string, EventSource its ticket.
      .replace(/\b(x-algolia-(?:api-key|application-id)=|ticket=)[^&\s"']*/gi, `$1${HIDDEN}`)
      // No scheme is longer. Without a limit a long word would take quadratic time.
      .replace(/([a-z][a-z0-9+.-]{0,30}:\/\/)[^\s/@]+@/gi, `$1${HIDDEN}@`)
  );
}
