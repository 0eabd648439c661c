import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { loadContentTypes } from '../../shared/schema/load-content-types.ts';
import { problemLine, warningLine } from '../../shared/schema/schema-problem.ts';

/**
 * `npm run projects -- FOLDER`: checks each Strapi project below the folder. Prints whether Varve starts with its content types, the
 * warnings, or why not. A project is a folder with `src/api`.
 */
const MAX_DEPTH = 4;

function findProjects(folder: string, depth = 0): readonly string[] {
  if (existsSync(join(folder, 'src', 'api'))) return [folder];
  if (depth === MAX_DEPTH) return [];
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && entry.name !== 'node_modules' && !entry.name.startsWith('.'))
    .flatMap(({ name }) => findProjects(join(folder, name), depth + 1));
}

const [root] = process.argv.slice(2);
if (root === undefined) {
  console.error('usage: npm run projects -- FOLDER');
  process.exit(2);
}
const counts = { started: 0, warned: 0, refused: 0 };
for (const project of findProjects(root)) {
  const loaded = loadContentTypes(project);
  if (loaded.kind === 'problems') {
    counts.refused++;
    console.log(`refused  ${project}`);
    for (const problem of loaded.problems) console.log(`  ${problemLine(problem)}`);
    continue;
  }
  counts[loaded.warnings.length === 0 ? 'started' : 'warned']++;
  console.log(`started  ${project}: ${loaded.registry.contentTypes.size} types`);
  for (const warning of loaded.warnings) console.log(`  ${warningLine(warning)}`);
}
const { started, warned, refused } = counts;
console.log(`${started + warned} started (${warned} with warnings), ${refused} refused`);
