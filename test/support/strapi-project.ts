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
  const folder = mkdtempSync(join(tmpdir(), 'varve-project-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const all = { 'src/api/note/content-types/note/schema.json': JSON.stringify(NOTE), ...files };
  for (const [file, text] of Object.entries(all)) {
    mkdirSync(join(folder, dirname(file)), { recursive: true });
    writeFileSync(join(folder, file), text);
  }
  return folder;
}
