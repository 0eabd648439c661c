import path from 'node:path';

const DECLARATION = /(\*\/\n)?^export (?:async )?(?:function\*? (\w+)|const (\w+) = (?:async )?\()/gm;
const IMPORT = /import\s+(?:type\s+)?\{([^}]*)\}\s+from\s+'(\.[^']+)'/g;
const LATER_IMPORT = /\{([^}]*)\}\s*=\s*await\s+import\(\s*'(\.[^']+)'/g;

/** Exported functions that a file of another folder imports and that have no docstring: `file: name`. */
export function undocumentedOf(texts: ReadonlyMap<string, string>): readonly string[] {
  const used = new Set([...texts].flatMap(([file, text]) => importsFromElsewhere(file, text)));
  return [...texts].flatMap(([file, text]) =>
    [...text.matchAll(DECLARATION)]
      .filter(([, docstring]) => docstring === undefined)
      .map(([, , name = '', variable = name]) => `${file}: ${name || variable}`)
      .filter((each) => used.has(each)),
  );
}

/** What a file imports from other folders, as `file: name`. */
function importsFromElsewhere(file: string, text: string): readonly string[] {
  const folder = path.posix.dirname(file);
  return [...text.matchAll(IMPORT), ...text.matchAll(LATER_IMPORT)].flatMap(([, names = '', from = '']) => {
    const target = path.posix.join(folder, from);
    if (path.posix.dirname(target) === folder) return [];
    return names.split(',').map((name) => `${target}: ${importedName(name)}`);
  });
}

/** `a` of `a`, `type a`, `a as b` and `a: b`. */
function importedName(text: string): string {
  return (
    text
      .replace(/^\s*type\s/, '')
      .split(/ as |:/)[0]
      ?.trim() ?? ''
  );
}
