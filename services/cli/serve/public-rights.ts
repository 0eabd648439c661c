import type { Logger } from 'pino';
import type { AccessState } from '../../../shared/access/access-state.ts';
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

const READING: readonly string[] = ['find', 'findOne'];

/** Warns if everyone who reaches the server may change content. `rights`: those of callers without a token. */
export function warnOfPublicWrites(
  { publicRights, development }: Pick<AccessState, 'publicRights' | 'development'>,
  logger: Pick<Logger, 'warn'>,
): void {
  if (development || publicRights.kind !== 'custom') return;
  const writing = [...publicRights.allowed].filter(
    (right) => !READING.includes(right.split('.').at(-1) ?? ''),
  );
  if (writing.length === 0) return;
  logger.warn(
    { rights: writing },
    'everyone may change content without a token (--public): pass rights that end with find or findOne if you do not want this',
  );
}

/** Sets the rights of callers without a token, and resolves when this process applies them. Writes nothing if they have them already. */
export async function setPublic(
  { tokens, access }: Pick<Varve, 'tokens' | 'access'>,
  allow: readonly Right[],
): Promise<void> {
  const { position } = await tokens.setPublic(allow);
  if (position !== undefined) await access.applied(position);
}
