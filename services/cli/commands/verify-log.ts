import type { ChainHead, Damage } from '../../../shared/event-store/event-store.ts';
import type { ErasureLog } from '../../erasure/plan-erasure.ts';
import { findWrongErasures } from '../../erasure/verify-erasures.ts';
import { InvalidSettings } from '../settings/settings.ts';

export type LogDifference = {
  readonly kind: 'log';
  readonly position: string;
  readonly stream: string;
  readonly revision: string;
  readonly reason: string;
};

/** Parses a head as `varve status` shows it: `<position>:<chain>`. Throws InvalidSettings. */
export function parseHead(text: string | undefined): ChainHead | undefined {
  if (text === undefined) return undefined;
  const [, position, chain] = /^(\d{1,18}):([0-9a-f]{64})$/.exec(text) ?? [];
  if (position !== undefined && chain !== undefined) return { position: BigInt(position), chain };
  throw new InvalidSettings(
    `--head "${text}" must be a head of a log as varve status shows it, POSITION:CHAIN`,
  );
}

/** Checks every event of the log, every erasure, and whether the log contains this head. Throws a message if it does not. */
export async function verifyLog(
  { log, space }: ErasureLog,
  head: ChainHead | undefined,
  found: (difference: LogDifference) => void,
): Promise<void> {
  for await (const damage of log.findDamage()) found(presentDamage(damage));
  for await (const damage of findWrongErasures({ log, space })) found(presentDamage(damage));
  if (head === undefined) return;
  if (log.chain === undefined) throw new Error('this log has no hash chain: omit --head');
  const chain = await log.historyAt(head.position);
  if (chain === head.chain) return;
  const what = chain === undefined ? 'no event' : 'another history';
  throw new Error(`the log has ${what} at position ${head.position}: it is not the log with this head`);
}

/** Returns a line for an operator: the location of the event, and the problem. */
export function presentLogDifference({ position, stream, revision, reason }: LogDifference): string {
  return `log: event at position ${position} (${stream}, revision ${revision}): ${reason}`;
}

function presentDamage({ position, stream, revision, reason }: Damage): LogDifference {
  return { kind: 'log', position: String(position), stream, revision: String(revision), reason };
}
