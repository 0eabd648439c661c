type CodeFile = { readonly file: string; readonly code: string };

/** A middleware that sets `populate` to a constant, and the default populate of a content type that has the same effect. */
export type PopulatingMiddleware = {
  readonly file: string;
  readonly type: string;
  readonly defaultPopulate: { readonly [action: string]: unknown };
};

const ASSIGNMENT = /\.populate\s*=(?!=)\s*(?:([A-Za-z_$][\w$]*)\s*[;\n}]|(?=[{['"`]))/;
const EVERY_ASSIGNMENT = /\.populate\s*=(?!=)/g;

/** Returns the middlewares of routes whose populate is a plain object, list or text. */
export function populatingMiddlewares(
  middlewares: readonly CodeFile[],
  routes: readonly CodeFile[],
): readonly PopulatingMiddleware[] {
  return middlewares.flatMap(({ file, code }) => {
    const populate = assignedPopulate(code);
    if (populate === undefined) return [];
    const [folder, api, , name = ''] = file.split(/[\\/]/);
    if (folder !== 'api') return [];
    const uid = `api::${api}.${name.replace(/\.\w+$/, '')}`;
    return routes
      .flatMap((route) => usesIn(route.code, uid))
      .map(({ type, actions }) => ({
        file,
        type,
        defaultPopulate: Object.fromEntries(actions.map((action) => [action, populate])),
      }));
  });
}

/** Returns the types whose router runs a middleware before `find` or `findOne`. */
function usesIn(code: string, middleware: string) {
  return [...code.matchAll(/\bcreateCoreRouter\s*\(\s*['"`]([^'"`]+)['"`]/g)].flatMap(([, type = '']) => {
    const actions = ['find', 'findOne'].filter((action) =>
      new RegExp(
        `(?<![\\w$])['"]?${action}['"]?\\s*:\\s*\\{[^{}]*\\bmiddlewares['"]?\\s*:\\s*\\[[^\\]]*['"\`]${middleware}['"\`]`,
      ).test(code),
    );
    return actions.length === 0 ? [] : [{ type, actions }];
  });
}

function assignedPopulate(code: string): unknown {
  const found = ASSIGNMENT.exec(code);
  // Nobody knows which of several values a request gets.
  if (found === null || (code.match(EVERY_ASSIGNMENT) ?? []).length > 1) return undefined;
  const [text, name] = found;
  if (name === undefined) return literalAt(code, found.index + text.length);
  const constant = new RegExp(`\\bconst\\s+${name.replaceAll('$', '\\$')}\\b[^=]*=\\s*`).exec(code);
  return constant === null ? undefined : literalAt(code, constant.index + constant[0].length);
}

/** Returns the value of a literal of objects, lists, texts, numbers and booleans; undefined for other code. */
function literalAt(code: string, start: number): unknown {
  let depth = 0;
  for (let at = start; at < code.length; at++) {
    const letter = code[at] as string;
    if ('{['.includes(letter)) depth++;
    else if ('}]'.includes(letter)) depth--;
    if (depth === 0 && (at > start || !'\'"`'.includes(letter))) {
      if ('}]'.includes(letter)) return parsed(code.slice(start, at + 1));
      if (letter === code[start]) return parsed(code.slice(start, at + 1));
    }
  }
  return undefined;
}

const TEXT_OR_KEY =
  /'((?:\\.|[^'\\])*)'|"((?:\\.|[^"\\])*)"|`([^`$]*)`|([A-Za-z_$][\w$]*)(?=\s*:)|,(?=\s*[}\]])/g;

/** Number of the groups of TEXT_OR_KEY. */
const TEXTS = 4;

function parsed(literal: string): unknown {
  const json = literal.replace(TEXT_OR_KEY, (found, ...groups) => {
    const text = groups.slice(0, TEXTS).find((group) => group !== undefined);
    return found === ',' ? '' : JSON.stringify(text);
  });
  try {
    return JSON.parse(json) as unknown;
  } catch {
    return undefined;
  }
}
