/**
 * Returns a URL whose `deepObject` parameters have brackets at every level. OpenAPI defines only one level. So swagger-ui writes the first
 * level in brackets and the rest as JSON text: `filters[name]={"$eq":"x"}`. The function runs in a browser, so it uses nothing from outside
 * itself.
 */
export function expandDeepObjects(url: string, base: string): string {
  const nested = /^(filters|populate|pagination)\[/;
  const parsed = new URL(url, base);
  const pairs: string[] = [];
  const add = (key: string, value: unknown): void => {
    if (typeof value === 'object' && value !== null) {
      for (const [name, inner] of Object.entries(value)) add(`${key}[${name}]`, inner);
    } else {
      pairs.push(`${encodeURIComponent(key)}=${encodeURIComponent(String(value))}`);
    }
  };
  for (const [key, text] of parsed.searchParams) {
    let value: unknown = text;
    if (nested.test(key) && /^[[{]/.test(text)) {
      try {
        value = JSON.parse(text);
      } catch {
        // Text that only looks like JSON stays as it is.
      }
    }
    add(key, value);
  }
  parsed.search = pairs.join('&');
  return parsed.href;
}
