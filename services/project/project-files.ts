import { existsSync } from 'node:fs';
import path from 'node:path';

/** The folder that has `src/api`, when `folder` is it or its `src`. */
export function projectRoot(folder: string): string | undefined {
  if (existsSync(path.join(folder, 'src', 'api'))) return folder;
  const isSource = path.basename(path.resolve(folder)) === 'src' && existsSync(path.join(folder, 'api'));
  return isSource ? path.dirname(path.resolve(folder)) : undefined;
}

/** A file of the project's configuration; undefined where it has none of this name. */
export function configFile(root: string, name: string): string | undefined {
  return ['ts', 'js', 'mjs', 'cjs', 'json']
    .map((extension) => path.join(root, 'config', `${name}.${extension}`))
    .find((candidate) => existsSync(candidate));
}
