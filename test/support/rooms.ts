import { isBuiltin } from 'node:module';
import path from 'node:path';
import type { ICruiseResult } from 'dependency-cruiser';

/** A room: a folder of product code with a row in the table of docs/architecture.md. */
export type Room = {
  readonly folder: string;
  /** Rooms that it may import besides `shared`: folders, `folder/*`, or EVERY_ROOM_ABOVE. */
  readonly imports: readonly string[];
  /** Packages that it may import besides those that all rooms may. `@scope/*` means every package of a scope. */
  readonly packages: readonly string[];
  /** True if its files must do no I/O and read no clock. */
  readonly isPure: boolean;
  /** Files of a pure room that are exempt. */
  readonly impure: readonly string[];
};

/** Folders whose subfolders are rooms. */
export const PRODUCT = ['shared', 'projections', 'services'];

const EVERY_ROOM_ABOVE = 'every room above';
const OPEN_ROOM = 'shared';
const OPEN_PACKAGES = ['zod', 'pino'];
const HEADING = '## Where things are';

/** Reads the rooms of docs/architecture.md, in the order of the table. Throws if there is no such table. */
export function readRooms(page: string): readonly Room[] {
  const [, section = ''] = page.split(HEADING);
  const rows =
    section
      .split('\n## ')[0]
      ?.split('\n')
      .filter((line) => line.startsWith('| `')) ?? [];
  if (rows.length === 0) throw new Error(`docs/architecture.md has no table of rooms below "${HEADING}"`);
  return rows.map((row) => {
    const [folder = '', knows = '', imports = '', packages = ''] = row.split('|').slice(1);
    return {
      folder: quoted(folder)[0] ?? '',
      imports: imports.trim() === EVERY_ROOM_ABOVE ? [EVERY_ROOM_ABOVE] : quoted(imports),
      packages: quoted(packages),
      isPure: /\bPure\b/.test(knows),
      impure: quoted(/Pure but for (.*)/.exec(knows)?.[1] ?? ''),
    };
  });
}

function quoted(cell: string): readonly string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map(([, text = '']) => text);
}

export type RoomImport = { readonly from: string; readonly to: string };

/**
 * Returns the imports of product files from each other and from packages and built-in modules; `to` is a file or a
 * package.
 */
export function importsOf(modules: ICruiseResult['modules']): readonly RoomImport[] {
  return modules
    .filter(({ source }) => isProduct(source))
    .flatMap(({ source, dependencies }) =>
      dependencies
        .filter(({ module, resolved }) => isProduct(resolved) || !module.startsWith('.'))
        .map(({ module, resolved }) => ({
          from: source,
          to: isProduct(resolved) ? resolved : packageOf(module),
        })),
    );
}

function isProduct(file: string): boolean {
  return PRODUCT.some((root) => file.startsWith(`${root}/`)) && file.endsWith('.ts');
}

function packageOf(specifier: string): string {
  // Dependency-cruiser omits the scheme `node:`.
  if (isBuiltin(`node:${specifier}`)) return `node:${specifier}`;
  const [first = '', second = ''] = specifier.split('/');
  return first.startsWith('@') ? `${first}/${second}` : first;
}

/** Returns the pairs of rooms of which one imports the other: `from → to`, each once. */
export function arrowsOf(imports: readonly RoomImport[]): ReadonlySet<string> {
  const between = imports.filter(({ from, to }) => isProduct(to) && roomOf(from) !== roomOf(to));
  return new Set(between.map(({ from, to }) => `${roomOf(from)} → ${roomOf(to)}`));
}

function roomOf(file: string): string {
  return path.posix.dirname(file);
}

/** Returns the differences between the table of rooms and the files, as `rule: what`. Each says what to change. */
export function roomViolations(
  rooms: readonly Room[],
  files: readonly string[],
  imports: readonly RoomImport[],
): readonly string[] {
  const used = new Set<string>();
  const violations = imports.flatMap((each) => importViolation(rooms, each, used));
  return [
    ...rowViolations(rooms, files),
    ...new Set(violations),
    ...rooms.flatMap((room) =>
      [...room.imports, ...room.packages]
        .filter((entry) => entry !== EVERY_ROOM_ABOVE && !used.has(`${room.folder} ${entry}`))
        .map((entry) => `unused entry: ${room.folder} does not import ${entry}: delete it from its row`),
    ),
  ];
}

function rowViolations(rooms: readonly Room[], files: readonly string[]): readonly string[] {
  const folders = new Set(files.filter(isProduct).map(roomOf));
  const rows = rooms.map(({ folder }) => folder);
  return [
    ...[...folders].filter((folder) => !rows.includes(folder)).map((folder) => `no row: ${folder} has none`),
    ...rows.filter((folder) => !folders.has(folder)).map((folder) => `no files: ${folder} has a row`),
    ...rows.filter((folder, at) => rows.indexOf(folder) !== at).map((folder) => `two rows: ${folder}`),
  ];
}

function importViolation(rooms: readonly Room[], { from, to }: RoomImport, used: Set<string>): string[] {
  const at = rooms.findIndex(({ folder }) => folder === roomOf(from));
  const room = rooms[at];
  if (room === undefined) return [];
  const target = isProduct(to) ? roomOf(to) : to;
  if (!isProduct(to) && !isGuarded(rooms, to)) return [];
  if (target === room.folder) return [];
  const entries = (isProduct(to) ? room.imports : room.packages).filter((entry) => covers(entry, target));
  for (const entry of entries) used.add(`${room.folder} ${entry}`);
  const isBelow = isProduct(to) && rooms.findIndex(({ folder }) => folder === target) > at;
  if (isBelow) return [`upward: ${from} → ${to}: the row of ${target} is below that of ${room.folder}`];
  if (entries.length > 0 || target === OPEN_ROOM) return [];
  return [`room ${room.folder}: ${from} → ${to}: the row of ${room.folder} does not name \`${target}\``];
}

/** Returns true if a room needs a permission to import a package: node:sqlite, and packages from npm except the open ones. */
function isGuarded(rooms: readonly Room[], name: string): boolean {
  if (OPEN_PACKAGES.includes(name)) return false;
  return !name.startsWith('node:') || rooms.some(({ packages }) => packages.includes(name));
}

function covers(entry: string, target: string): boolean {
  if (entry === EVERY_ROOM_ABOVE) return true;
  if (!entry.endsWith('/*')) return entry === target;
  return roomOf(target) === entry.slice(0, -2);
}
