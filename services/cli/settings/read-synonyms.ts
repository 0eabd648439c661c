import { readFileSync } from 'node:fs';
import {
  addSynonyms,
  type InstalledSynonyms,
  SYNONYMS,
  unknownTypes,
} from '../../../shared/schema/add-synonyms.ts';
import type { SchemaRegistry } from '../../../shared/schema/schema-registry.ts';
import { file, type SettingsTable } from './setting.ts';

export const SEARCH_SETTINGS = {
  synonyms: {
    flags: '--synonyms <file>',
    description: 'JSON file with synonyms for searches, by content type and locale',
    schema: file.optional(),
  },
} as const satisfies SettingsTable;

const EXAMPLE =
  '{"api::restaurant.restaurant": {"en": [["nyc", "new york city"]]}}; * is every type or locale';

/** Returns the content types with the synonyms of a file. Throws an error that lists all problems of the file. */
export function withSynonyms(file: string | undefined, registry: SchemaRegistry): SchemaRegistry {
  if (file === undefined) return registry;
  const synonyms = readSynonyms(file);
  const unknown = unknownTypes(registry, synonyms);
  if (unknown.length === 0) return addSynonyms(registry, synonyms);
  const known = [...registry.contentTypes.keys()].join(', ');
  return refuse(file, `names content types that do not exist: ${unknown.join(', ')}. There are ${known}`);
}

/** Reads a file of synonyms. Throws an error that lists all problems of its form. */
export function readSynonyms(file: string | undefined): InstalledSynonyms {
  if (file === undefined) return {};
  const parsed = SYNONYMS.safeParse(readJson(file));
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map(({ path, message }) => `  ${textOfPath(path)}: ${message}`);
  return refuse(file, `is not as expected, such as ${EXAMPLE}\n${problems.join('\n')}`);
}

function readJson(file: string): unknown {
  let text = '';
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    return refuse(file, `cannot be read: ${(error as Error).message}`);
  }
  try {
    return JSON.parse(text);
  } catch (error) {
    return refuse(file, `is not JSON: ${(error as Error).message}`);
  }
}

function textOfPath(path: readonly PropertyKey[]): string {
  return path.map((name) => `[${JSON.stringify(name)}]`).join('') || 'the file';
}

function refuse(file: string, why: string): never {
  throw new Error(`--synonyms ${file} ${why}`);
}
