function trimList(text: string) {
  return text
    .trim()
    .replace(/^\[(.*)\]$/s, '$1')
    .split(',')
    .map((item) => item.trim().replace(/^"(.*)"$/s, '$1'));
}

const CASTS = {
  int: (text: string) => Number.parseInt(text, 10),
  float: (text: string) => Number.parseFloat(text),
  bool: (text: string) => text === 'true',
  json: (text: string): unknown => JSON.parse(text),
  array: trimList,
  date: (text: string) => new Date(text),
} as const;

/**
 * Creates the `env` function that Strapi passes to configuration files: `env(name, absent)` with the casts `env.int`,
 * `env.float`, `env.bool`, `env.json`, `env.array`, `env.date` and `env.oneOf`.
 */
export function createEnvHelper(variables: { readonly [name: string]: string | undefined }) {
  const read = (name: string, absent?: unknown): unknown => variables[name] ?? absent;
  const casts = Object.entries(CASTS).map(([name, cast]) => [
    name,
    (variable: string, absent?: unknown): unknown => {
      const text = variables[variable];
      return text === undefined ? absent : cast(text);
    },
  ]);
  const oneOf = (name: string, values: readonly unknown[], absent?: unknown): unknown => {
    const value = read(name, absent);
    return values.includes(value) ? value : absent;
  };
  const named = Object.fromEntries(casts) as Record<keyof typeof CASTS, typeof read>;
  return Object.assign(read, named, { oneOf });
}
