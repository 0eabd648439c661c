import { documentStream } from '../../shared/document/stream-name.ts';
import type { DocumentErased, ErasedEvent } from '../../shared/erasure/erasure-events.ts';
import { digestAsFound } from '../../shared/event-store/event-digest.ts';
import type { Damage, StoredEvent } from '../../shared/event-store/event-store.ts';
import { rawEvents } from '../../shared/event-store/raw-events.ts';
import type { ErasureLog } from './plan-erasure.ts';

/** An event as a proof names it. `at`: location of the proof. */
type Proved = ErasedEvent & { readonly order: string; readonly at: Omit<Damage, 'reason'> };

type Found = Pick<StoredEvent, 'stream' | 'revision' | 'position' | 'id'> & {
  readonly order: string;
  readonly digest: string;
};

/**
 * Compares the erased events of a namespace with the proofs of their erasures, and reports what differs: an event that was changed after
 * its erasure, an erasure without a proof, a proof whose event still has its content. The hash chain does not cover these.
 */
export async function* findWrongErasures({ log, space }: ErasureLog): AsyncGenerator<Damage> {
  const found = new Map<string, Found>();
  const proved = new Map<string, Proved>();
  for await (const event of rawEvents(log, 0n)) {
    const { stream, revision, position, id, type, data, metadata } = event;
    if (type === 'document-erased' && event.unreadable === undefined)
      addProofs(proved, space, event as StoredEvent & { readonly data: DocumentErased['data'] });
    if (metadata.erased === undefined) continue;
    const digest = digestAsFound({ id, type, data, metadata });
    found.set(nameOf(stream, revision), { stream, revision, position, id, order: metadata.erased, digest });
  }
  for (const [name, event] of found) {
    const reason = wrongIn(event, proved.get(name));
    const { stream, revision, position } = event;
    if (reason !== undefined) yield { stream, revision, position, reason };
  }
  for (const [name, { at }] of proved)
    if (!found.has(name))
      yield { ...at, reason: `it says that ${name} was erased, which still has its content` };
}

function addProofs(
  proved: Map<string, Proved>,
  space: string,
  { stream, revision, position, data }: StoredEvent & { readonly data: DocumentErased['data'] },
): void {
  const { type, documentId, order, events } = data;
  const of = documentStream(space, type, documentId);
  for (const event of events)
    proved.set(nameOf(of, event.revision), { ...event, order, at: { stream, revision, position } });
}

function wrongIn({ id, order, digest }: Found, proof: Proved | undefined): string | undefined {
  if (proof === undefined) return 'its content was erased without an order';
  if (proof.order !== order || proof.id !== id || proof.digest !== digest)
    return 'its content does not match the proof of its erasure: it was changed afterwards';
  return undefined;
}

function nameOf(stream: string, revision: bigint | string): string {
  return `revision ${revision} of ${stream}`;
}
