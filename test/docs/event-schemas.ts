import * as z from 'zod';
import { IMPORT_LINE } from '../../services/command/import-line.ts';
import { EVENT_SCHEMAS, METADATA_SCHEMA } from '../../shared/events/event-schemas.ts';

/** Returns the files of docs/events/, by name: JSON Schema of the data of every version of every type, and of metadata. */
export function eventSchemaFiles(): ReadonlyMap<string, string> {
  const files = new Map([['metadata.json', jsonSchema(METADATA_SCHEMA, 'Metadata of an event')]]);
  for (const [type, versions] of Object.entries(EVENT_SCHEMAS)) {
    for (const [index, schema] of versions.entries())
      files.set(`${type}.${index + 1}.json`, jsonSchema(schema, `Data of ${type}, version ${index + 1}`));
  }
  return files;
}

/** Returns the JSON Schema of a line of `varve import`. */
export function importLineSchema(): string {
  return jsonSchema(IMPORT_LINE, 'Line of varve import');
}

function jsonSchema(schema: z.ZodType, title: string): string {
  const { $schema, ...rest } = z.toJSONSchema(schema);
  return `${JSON.stringify({ $schema, title, ...rest }, null, 2)}\n`;
}
