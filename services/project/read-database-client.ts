import { z } from 'zod';
import { readConfig } from './read-config.ts';

const DATABASE = z.looseObject({ connection: z.looseObject({ client: z.string() }) });

/** Returns the kind of database that a project's `config/database` names; undefined if it cannot be read. */
export function readDatabaseClient(contentTypes: string): 'sqlite' | 'postgres' | 'mysql' | undefined {
  const found = readConfig(contentTypes, 'database');
  if (found?.evaluated.kind !== 'value') return undefined;
  const client = DATABASE.safeParse(found.evaluated.value).data?.connection.client ?? '';
  return (['sqlite', 'postgres', 'mysql'] as const).find((kind) => client.includes(kind));
}
