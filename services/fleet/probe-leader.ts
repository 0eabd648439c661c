import * as z from 'zod';
import type { Lease } from '../../shared/fleet/lease.ts';

/** `gone`: nobody is there, or somebody else; `silent`: nothing is known. */
export type Probe = 'alive' | 'gone' | 'silent';

/** Where a process says who it is, see presence.ts. */
export const LEADER_PATH = '/_varve/leader';

const PRESENCE = z.object({ owner: z.string() });
/** What a system says of an address where nobody listens. */
const NOBODY = new Set(['ECONNREFUSED', 'ECONNRESET']);

/** Whether any process answers at an address. */
export async function isReachable(address: string, timeoutMs: number): Promise<boolean> {
  try {
    const answer = await fetch(new URL(LEADER_PATH, address), { signal: AbortSignal.timeout(timeoutMs) });
    return PRESENCE.safeParse(await answer.json()).success;
  } catch {
    return false;
  }
}

/** Asks the process at an address whether it is the one that claimed the lead. */
export async function probeLeader(
  { address, owner }: Lease['leader'] & {},
  timeoutMs: number,
): Promise<Probe> {
  try {
    const answer = await fetch(new URL(LEADER_PATH, address), { signal: AbortSignal.timeout(timeoutMs) });
    const presence = PRESENCE.safeParse(await answer.json());
    if (!presence.success) return 'silent';
    return presence.data.owner === owner ? 'alive' : 'gone';
  } catch (error) {
    const cause = (error as { readonly cause?: { readonly code?: string } }).cause;
    return NOBODY.has(cause?.code ?? '') ? 'gone' : 'silent';
  }
}
