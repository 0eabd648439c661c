import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * Writes a folder with one content type, `note`, without unique attributes. A write that is executed twice therefore creates two
 * documents, and is not refused.
 */
export function writeNoteTypes(): string {
  const folder = mkdtempSync(join(tmpdir(), 'varve-notes-'));
  const note = join(folder, 'api/note/content-types/note');
  mkdirSync(note, { recursive: true });
  const schema = {
    kind: 'collectionType',
    collectionName: 'notes',
    info: { singularName: 'note', pluralName: 'notes', displayName: 'Note' },
    options: { draftAndPublish: true },
    attributes: { name: { type: 'string' } },
  };
  writeFileSync(join(note, 'schema.json'), JSON.stringify(schema));
  return folder;
}
