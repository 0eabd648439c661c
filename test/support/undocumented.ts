const DECLARATION = /(\*\/\n)?^export (?:async )?(?:function\*? (\w+)|const (\w+) = (?:async )?\()/gm;

/** Returns the exported functions without a docstring as `file: name`. */
export function undocumentedOf(texts: ReadonlyMap<string, string>): readonly string[] {
  return [...texts].flatMap(([file, text]) =>
    [...text.matchAll(DECLARATION)]
      .filter(([, docstring]) => docstring === undefined)
      .map(([, , name = '', variable = name]) => `${file}: ${name || variable}`),
  );
}
