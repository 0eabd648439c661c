import { parseAllow } from '../../../shared/access/parse-allow.ts';
import type { Right } from '../../../shared/access/rights.ts';
import type { SchemaRegistry } from '../../../shared/schema/schema-registry.ts';
import type { Varve } from '../../process/open-varve.ts';
import { InvalidSettings } from '../settings/settings.ts';

/** Parses the rights in `--public`; undefined if it is not set. Throws InvalidSettings with every problem. */
export function parsePublic(
  text: string | undefined,
  registry: SchemaRegistry,
): readonly Right[] | undefined {
  if (text === undefined) return undefined;
  const parsed = parseAllow(text, registry);
  if (parsed.kind === 'allowed') return parsed.allowed;
  throw new InvalidSettings(...parsed.problems.map((problem) => `--public (VARVE_PUBLIC) ${problem}`));
}

/** Sets the rights of callers without a token, and resolves when this process applies them. Writes nothing if they have them already. */
export async function setPublic(
  { tokens, access }: Pick<Varve, 'tokens' | 'access'>,
  allow: readonly Right[],
): Promise<void> {
  const { position } = await tokens.setPublic(allow);
  if (position !== undefined) await access.applied(position);
}
