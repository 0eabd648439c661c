import { once } from 'node:events';
import type { TypeDefinition } from '../../../shared/schema/type-definitions.ts';

/** Resolves to the definitions that the server has sent which started this process for a copy. */
export async function askedDefinitions(): Promise<readonly TypeDefinition[]> {
  process.channel?.ref();
  const [definitions] = await once(process, 'message');
  process.channel?.unref();
  return definitions as readonly TypeDefinition[];
}
