import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { CONSOLE_STYLE } from './console-style.ts';
import { stripModule } from './strip-module.ts';

/** Content of a file, with the name of its version. */
export type ConsoleFile = {
  readonly type: string;
  readonly etag: string;
  readonly body: Buffer;
  readonly zipped: Buffer;
};

/** Files of the console by their served names. Each is read at its first request, and kept. No other file is served. */
export type ConsoleFiles = {
  /** Served names of the modules that the page loads first. */
  readonly modules: readonly string[];
  /** Served name of the module that draws the page. */
  readonly main: string;
  /** Returns a file; undefined for a name that is not listed. */
  read(name: string): Promise<ConsoleFile> | undefined;
};

type Source = { readonly type: string; readonly text: () => Promise<string> };

const SCRIPT = 'text/javascript';
const STYLE = 'text/css';

/** Extension of this program's files: `.ts`, or `.js` in the published package. */
const SELF = fileURLToPath(import.meta.url);
const OWN = extname(SELF);
const BROWSER = join(dirname(SELF), 'browser');

/** Lists the files. */
export function findConsoleFiles(): ConsoleFiles {
  const own = readdirSync(BROWSER).filter((name) => extname(name) === OWN);
  const packages = packageFiles();
  const sources = new Map<string, Source>([
    ...own.map((name): [string, Source] => [name, { type: SCRIPT, text: () => ownModule(name, packages) }]),
    ...packages.map(({ served, file }): [string, Source] => [
      served,
      { type: SCRIPT, text: async () => withServedImports(await readFile(file, 'utf8'), packages) },
    ]),
    ['console.css', { type: STYLE, text: async () => CONSOLE_STYLE }],
    ['uplot.css', { type: STYLE, text: () => readFile(pathOf('uplot/dist/uPlot.min.css'), 'utf8') }],
  ]);
  const kept = new Map<string, Promise<ConsoleFile>>();
  const main = `main${OWN}`;
  return {
    modules: firstModules(main, packages),
    main,
    read(name) {
      const source = sources.get(name);
      if (source === undefined) return undefined;
      const file = kept.get(name) ?? load(source);
      kept.set(name, file);
      return file;
    },
  };
}

type PackageFile = { readonly name: string; readonly served: string; readonly file: string };

/** Modules of packages: the name that imports use, the name under which it is served, and the file. */
function packageFiles(): readonly PackageFile[] {
  return [
    { name: 'preact', served: 'preact.js', file: fileURLToPath(import.meta.resolve('preact')) },
    { name: 'preact/hooks', served: 'hooks.js', file: fileURLToPath(import.meta.resolve('preact/hooks')) },
    { name: 'htm', served: 'htm.js', file: fileURLToPath(import.meta.resolve('htm')) },
    {
      name: '@preact/signals',
      served: 'signals.js',
      file: fileURLToPath(import.meta.resolve('@preact/signals')),
    },
    {
      name: '@preact/signals-core',
      served: 'signals-core.js',
      file: fileURLToPath(import.meta.resolve('@preact/signals-core')),
    },
    { name: 'uplot', served: 'uplot.js', file: pathOf('uplot/dist/uPlot.esm.js') },
  ];
}

function pathOf(specifier: string): string {
  return fileURLToPath(import.meta.resolve(specifier));
}

async function ownModule(name: string, packages: readonly PackageFile[]): Promise<string> {
  const source = await readFile(join(BROWSER, name), 'utf8');
  return withServedImports(OWN === '.ts' ? stripModule(source) : source, packages);
}

const FROM = /\bfrom\s*["']([^"']+)["']/g;

/** Returns a module and those that it imports at once, in all steps. What `import()` names is loaded later. */
function firstModules(main: string, packages: readonly PackageFile[]): readonly string[] {
  const found = new Set([main]);
  for (const name of found) {
    const file = packages.find(({ served }) => served === name)?.file ?? join(BROWSER, name);
    const source = withServedImports(readFileSync(file, 'utf8'), packages);
    // Types are imported too in the sources, and need no module.
    const imports = source.replaceAll(/^import type [^;]*;/gm, '').matchAll(FROM);
    for (const [, path = ''] of imports) found.add(path.replace('./', ''));
  }
  return [...found];
}

const IMPORTED = /(\b(?:from|import)\s*\(?\s*)(["'])([\w@/-]+)\2/g;

/** Replaces names of packages by paths, because a browser knows no packages, and an import map would be an inline script. */
function withServedImports(source: string, packages: readonly PackageFile[]): string {
  return source
    .replace(IMPORTED, (whole, before: string, quote: string, name: string) => {
      const found = packages.find((each) => each.name === name);
      return found === undefined ? whole : `${before}${quote}./${found.served}${quote}`;
    })
    .replace(/^\/\/# sourceMappingURL=.*$/m, '');
}

async function load({ type, text }: Source): Promise<ConsoleFile> {
  const body = Buffer.from(await text());
  const etag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`;
  return { type, etag, body, zipped: await promisify(gzip)(body) };
}
