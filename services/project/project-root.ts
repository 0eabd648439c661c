import { existsSync } from 'node:fs';
import path from 'node:path';

/** Returns the folder that contains `src/api`: `folder` itself, or its parent if `folder` is `src`. */
export function projectRoot(folder: string): string | undefined {
  if (existsSync(path.join(folder, 'src', 'api'))) return folder;
  const isSource = path.basename(path.resolve(folder)) === 'src' && existsSync(path.join(folder, 'api'));
  return isSource ? path.dirname(path.resolve(folder)) : undefined;
}
