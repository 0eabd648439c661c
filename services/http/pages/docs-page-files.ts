import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { valueAt } from '../../../shared/map-values.ts';

type SwaggerFile = { readonly name: string; readonly contentType: string };

/** Files of swagger-ui-dist that the page needs, by their served names. */
export const SWAGGER_FILES: ReadonlyMap<string, SwaggerFile> = new Map([
  ['swagger-ui.css', { name: 'swagger-ui.css', contentType: 'text/css' }],
  ['swagger-ui-bundle.js', { name: 'swagger-ui-bundle.js', contentType: 'text/javascript' }],
]);

const contents = new Map<SwaggerFile, Promise<Buffer>>();

/** Reads a file of the package once, at its first request. */
export function readSwaggerFile(file: SwaggerFile): Promise<Buffer> {
  return valueAt(contents, file, () => {
    const folder = dirname(fileURLToPath(import.meta.resolve('swagger-ui-dist/package.json')));
    return readFile(join(folder, file.name));
  });
}
