import type { Damage, StoredEvent } from './event-store.ts';

/**
 * Finds events of a namespace that were changed after they were written, and gaps in the revisions of its streams. These checks need no
 * hash chain.
 */
export async function* findDamageOf(batches: AsyncIterable<readonly StoredEvent[]>): AsyncGenerator<Damage> {
  const next = new Map<string, bigint>();
  for await (const events of batches) {
    for (const { position, stream, revision, unreadable } of events) {
      const expected = next.get(stream) ?? 0n;
      next.set(stream, revision + 1n);
      if (revision !== expected) yield { position, stream, revision, reason: gap(expected, revision) };
      if (unreadable?.kind === 'damaged') yield { position, stream, revision, reason: unreadable.reason };
    }
  }
}

function gap(expected: bigint, found: bigint): string {
  return found > expected
    ? `revisions ${expected} to ${found - 1n} before it are missing from its stream`
    : `its stream had reached revision ${expected} before it`;
}
