import { existsSync, globSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** Returns the folder that contains `src/api`: `folder` itself, or its parent if `folder` is `src`. */
export function projectRoot(folder: string): string | undefined {
  if (existsSync(path.join(folder, 'src', 'api'))) return folder;
  const isSource = path.basename(path.resolve(folder)) === 'src' && existsSync(path.join(folder, 'api'));
  return isSource ? path.dirname(path.resolve(folder)) : undefined;
}

/** Returns whether a folder with `src/api` is a whole project of Strapi, and not only a copy of its `src`. */
export function isProject(root: string): boolean {
  if (existsSync(path.join(root, 'config'))) return true;
  const file = path.join(root, 'package.json');
  return existsSync(file) && readFileSync(file, 'utf8').includes('"@strapi/strapi"');
}

/** Returns the projects in the folders of a repository, at most three levels below it. */
export function projectsBelow(folder: string): readonly string[] {
  const exclude = (name: string) => /(^|[\\/])(node_modules|\.[^\\/]*)$/.test(name);
  const found = ['*', '*/*', '*/*/*'].flatMap((below) =>
    globSync(`${below}/src/api`, { cwd: folder, exclude }),
  );
  return found.sort().map((api) => path.join(folder, path.dirname(path.dirname(api))));
}
