import {
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Plugin, rolldown } from 'rolldown';

const ROOT = resolve(import.meta.dirname, '../..');
const FOLDER = join(ROOT, 'node_modules/.cache/program');
const UNUSED_MS = 3_600_000;

/** Packages of many small files that each start loads. They neither look at their own path nor start threads. */
const INLINED: ReadonlySet<string> = new Set([
  '@fastify/cors',
  '@fastify/multipart',
  '@fastify/rate-limit',
  '@opentelemetry/api',
  'commander',
  'csv-parse',
  'entities',
  'fastify',
  'jose',
  'prom-client',
  'qs',
  'tar-stream',
  'zod',
]);

/**
 * Bundles the program that tests start, before the first file of tests. A start of its 1,400 modules takes twice the CPU, and `npm test`
 * starts hundreds of servers. The bundle behaves like the program (a module knows its own path), except that a stack has lines of the bundle.
 * `VARVE_TEST_SOURCES=1` starts the program as it is written.
 */
export async function setup(): Promise<void> {
  if (process.env['VARVE_TEST_SOURCES'] !== '1') process.env['VARVE_TEST_PROGRAM'] = await bundle();
}

/** Returns the path of the program. The names of files have a digest of their content, so several runs can use them at once. */
async function bundle(): Promise<string> {
  const input = join(ROOT, 'services/cli/varve.ts');
  const build = await rolldown({
    input,
    cwd: ROOT,
    platform: 'node',
    external: isExternal,
    plugins: [KEEP_PATHS, PLAIN_BUILT_INS],
  });
  const { output } = await build.generate({
    format: 'esm',
    keepNames: true,
    entryFileNames: '[name]-[hash].mjs',
    chunkFileNames: '[name]-[hash].mjs',
  });
  await build.close();
  mkdirSync(FOLDER, { recursive: true });
  for (const file of output) if (file.type === 'chunk') write(join(FOLDER, file.fileName), file.code);
  removeUnused();
  return join(FOLDER, output[0].fileName);
}

/** A package that another one imports is part of it. */
function isExternal(name: string, importer: string | undefined): boolean {
  if (/^[./]/.test(name)) return false;
  if (importer?.includes('/node_modules/')) return name.startsWith('node:');
  return !INLINED.has(name.split('/', name.startsWith('@') ? 2 : 1).join('/'));
}

const KEEP_PATHS: Plugin = {
  name: 'keep-paths',
  transform(code, id) {
    if (id.includes('/node_modules/')) return undefined;
    return keepPaths(code, id);
  },
};

/** Modules start threads and programs by their own path. The command that runs would wait for itself, since it is in a chunk with shared code. */
function keepPaths(code: string, id: string): string {
  const placed = code.replaceAll('import.meta.url', JSON.stringify(pathToFileURL(id).href));
  return id.endsWith('/services/cli/run-command.ts') ? placed.replace(/^await run\(/m, 'void run(') : placed;
}

const PLAIN_BUILT_INS: Plugin = {
  name: 'plain-built-ins',
  renderChunk: (code) => code.replace(IMPORTED_BUILT_IN, takeBuiltIn),
};

/** Import of a module of Node in a chunk, with its default (or all of it) and its names. */
const IMPORTED_BUILT_IN = /^import (?:(?:\* as )?([\w$]+))?(?:, )?(?:\{([^}]*)\})? from "(node:[\w/]+)";$/gm;

/**
 * Returns statements that take a module of Node without `import`, which reads all its members. Those of `node:http` load undici: a twelfth of
 * a start, and a third of a short command.
 */
function takeBuiltIn(_import: string, whole: string | undefined, names: string | undefined, module: string) {
  const taken = `process.getBuiltinModule(${JSON.stringify(module)})`;
  const all = whole === undefined ? '' : `const ${whole} = ${taken};`;
  return names === undefined ? all : `${all}const {${names.replaceAll(' as ', ': ')}} = ${taken};`;
}

function write(file: string, code: string): void {
  if (existsSync(file)) {
    utimesSync(file, new Date(), new Date());
    return;
  }
  const part = `${file}.${process.pid}`;
  writeFileSync(part, code);
  renameSync(part, file);
}

/** Removes files of earlier programs that no run has used for an hour. */
function removeUnused(): void {
  for (const name of readdirSync(FOLDER)) {
    const file = join(FOLDER, name);
    const written = statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? Date.now();
    if (written < Date.now() - UNUSED_MS) rmSync(file, { force: true });
  }
}
