import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { CONFORMANCE_SCHEMA } from './server.ts';

/** Creates a folder of content types that a test may change. */
export function createTypes(): string {
  const folder = mkdtempSync(join(tmpdir(), 'varve-changed-types-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  cpSync(CONFORMANCE_SCHEMA, folder, { recursive: true });
  return folder;
}

/** Renames the restaurants' attribute `from` to `to`. */
export function renameAttribute(folder: string, from: string, to: string): void {
  const file = join(folder, 'api/restaurant/content-types/restaurant/schema.json');
  const schema = JSON.parse(readFileSync(file, 'utf8')) as { attributes: Record<string, object> };
  const attributes = Object.fromEntries(
    Object.entries(schema.attributes).map(([name, attribute]) =>
      name === from
        ? [to, { ...attribute, pluginOptions: { varve: { renamedFrom: from } } }]
        : [name, attribute],
    ),
  );
  writeFileSync(file, JSON.stringify({ ...schema, attributes }));
}
