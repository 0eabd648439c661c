import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';

export const NOTE = {
  info: { singularName: 'note', pluralName: 'notes' },
  attributes: { text: { type: 'string' } },
};

/** Creates a Strapi project with these files and a content type. It is removed after the test. */
export function strapiProject(files: { readonly [file: string]: string }): string {
  const folder = projectFolder({
    'src/api/note/content-types/note/schema.json': JSON.stringify(NOTE),
    ...files,
  });
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Creates a folder with these files. The caller removes it. */
export function projectFolder(files: { readonly [file: string]: string }): string {
  const folder = mkdtempSync(join(tmpdir(), 'varve-project-'));
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(join(folder, dirname(file)), { recursive: true });
    writeFileSync(join(folder, file), text);
  }
  return folder;
}
