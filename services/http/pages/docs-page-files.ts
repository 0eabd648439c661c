import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

type SwaggerFile = { readonly name: string; readonly contentType: string };

/** Files of swagger-ui-dist that the page needs, by their served names. */
export const SWAGGER_FILES: ReadonlyMap<string, SwaggerFile> = new Map([
  ['swagger-ui.css', { name: 'swagger-ui.css', contentType: 'text/css' }],
  ['swagger-ui-bundle.js', { name: 'swagger-ui-bundle.js', contentType: 'text/javascript' }],
]);

const contents = new Map<SwaggerFile, Buffer>();

/** Reads a file of the package at its first request, and keeps it. */
export async function readSwaggerFile(file: SwaggerFile): Promise<Buffer> {
  const known = contents.get(file);
  if (known !== undefined) return known;
  const folder = dirname(fileURLToPath(import.meta.resolve('swagger-ui-dist/package.json')));
  const content = await readFile(join(folder, file.name));
  contents.set(file, content);
  return content;
}
