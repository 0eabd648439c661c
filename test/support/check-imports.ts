import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { cruise, type ICruiseResult } from 'dependency-cruiser';
import { COMPUTING_BUILT_INS, IMPORT_RULES, PURE_FILES } from './import-rules.ts';
import { arrowsOf, importsOf, PRODUCT, type Room, readRooms, roomViolations } from './rooms.ts';

/** Folders whose modules are checked. */
const ROOTS = [...PRODUCT, 'test'];

/**
 * Smallest number of modules of a valid run. Without its parser, dependency-cruiser finds no modules and reports no
 * violations.
 */
export const MODULE_FLOOR = 100;

/** Calls that read the time, random numbers or the process. `new Date(value)` and `Date.parse` are pure. */
const CLOCK =
  /\b(Date\.now\(|new Date\(\)|Math\.random\(|performance\.now\(|process\.[a-z]|setTimeout\(|setInterval\()/;

export type ImportCheck = {
  /** Number of TypeScript modules that were read. */
  readonly modules: number;
  readonly dependencies: number;
  readonly rooms: number;
  /** Number of pairs of rooms of which one imports the other. */
  readonly arrows: number;
  /** `rule: from → to`, sorted. */
  readonly violations: readonly string[];
};

/**
 * Checks every TypeScript file below `folder` (a checkout) against its table of rooms and IMPORT_RULES. A file that dependency-cruiser
 * did not read is a violation too.
 */
export async function checkImports(folder: string): Promise<ImportCheck> {
  const files = globSync(
    ROOTS.map((root) => `${root}/**/*.ts`),
    { cwd: folder },
  ).sort();
  const { modules } = await cruiseFolder(folder, files);
  const cruised = modules.filter((module) => files.includes(module.source));
  const violations = cruised.flatMap((module) =>
    module.dependencies.flatMap((dependency) =>
      (dependency.rules ?? []).map(({ name }) => `${name}: ${module.source} → ${dependency.resolved}`),
    ),
  );
  const rooms = readRooms(readFileSync(path.join(folder, 'docs/architecture.md'), 'utf8'));
  const imports = importsOf(cruised);
  const missed = files.filter((file) => !cruised.some((module) => module.source === file));
  return {
    modules: cruised.length,
    dependencies: cruised.reduce((sum, module) => sum + module.dependencies.length, 0),
    rooms: rooms.length,
    arrows: arrowsOf(imports).size,
    violations: [
      ...violations,
      ...roomViolations(rooms, files, imports),
      ...missed.map((file) => `not cruised: ${file}`),
      ...files.filter((file) => path.basename(file) === 'index.ts').map((file) => `no-barrels: ${file}`),
      ...impureImports(rooms, cruised),
      ...clockUses(
        folder,
        files.filter((file) => isPure(rooms, file)),
      ),
    ].sort(),
  };
}

async function cruiseFolder(folder: string, files: string[]): Promise<ICruiseResult> {
  const { output } = await cruise(
    files,
    {
      baseDir: folder,
      validate: true,
      ruleSet: { forbidden: IMPORT_RULES },
      parser: 'swc',
      tsPreCompilationDeps: true,
      doNotFollow: 'node_modules',
    },
    {
      extensions: ['.ts', '.mjs', '.js', '.json'],
      conditionNames: ['import', 'node', 'types', 'default'],
      exportsFields: ['exports'],
    },
  );
  if (typeof output === 'string') throw new Error('dependency-cruiser answered text, not its result');
  return output;
}

/** Returns true if a file must do no I/O and read no clock. */
function isPure(rooms: readonly Room[], file: string): boolean {
  const room = rooms.find(({ folder }) => folder === path.posix.dirname(file));
  if (room?.isPure) return !room.impure.includes(path.posix.basename(file));
  return PURE_FILES.some((pattern) => new RegExp(pattern).test(file));
}

function impureImports(rooms: readonly Room[], modules: ICruiseResult['modules']): string[] {
  return modules
    .filter(({ source }) => isPure(rooms, source))
    .flatMap(({ source, dependencies }) =>
      dependencies
        .filter(({ dependencyTypes }) => dependencyTypes.includes('core'))
        .filter(({ module }) => !COMPUTING_BUILT_INS.test(module))
        .map(({ module }) => `purity: ${source} → ${module}`),
    );
}

function clockUses(folder: string, files: readonly string[]): string[] {
  return files.flatMap((file) => {
    const lines = readFileSync(path.join(folder, file), 'utf8').split('\n');
    return lines.flatMap((line, at) =>
      CLOCK.test(line) ? [`no-clock: ${file}:${at + 1} ${line.trim()}`] : [],
    );
  });
}

if (import.meta.main) {
  const { modules, dependencies, rooms, arrows, violations } = await checkImports(process.cwd());
  for (const violation of violations) console.error(violation);
  if (modules < MODULE_FLOOR)
    console.error(`only ${modules} modules were cruised, at least ${MODULE_FLOOR} expected`);
  console.log(
    `${modules} modules, ${dependencies} imports, ${rooms} rooms, ${arrows} arrows between them, ${violations.length} violations`,
  );
  if (violations.length > 0 || modules < MODULE_FLOOR) process.exitCode = 1;
}
