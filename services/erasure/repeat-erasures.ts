import { documentStream } from '../../shared/document/stream-name.ts';
import { type ErasureEvent, erasureStream } from '../../shared/erasure/erasure-events.ts';
import { newEvent } from '../../shared/events/new-event.ts';
import { FILE_TYPE, type Uid } from '../../shared/schema/content-type.ts';
import { readLease } from '../fleet/lease-view.ts';
import type { ErasureLine } from './erasure-file.ts';
import { readLedger } from './erasure-ledger.ts';
import { countErasable, type ErasureLog, planErasure, redactionsFor } from './plan-erasure.ts';

/** Numbers of documents. `ordered`: uploaded files, which the next start erases with their content. */
export type Repeated = { readonly erased: number; readonly ordered: number };

/**
 * Repeats erasures on a copy of the log from before them, which no other process has open. `localesOf` returns the locales of a document that
 * have rows. Documents that the copy does not have, or that are erased in it, are left out.
 */
export async function repeatErasures(
  copy: ErasureLog,
  lines: readonly ErasureLine[],
  localesOf: (type: Uid, documentId: string) => readonly (string | null)[],
): Promise<Repeated> {
  const { log, space } = copy;
  const { orders } = await readLedger(log, space);
  const { epoch } = await readLease(log, space);
  const append = async (event: ErasureEvent, at: string, id?: string) => {
    const stored = newEvent(event, { at, epoch, actor: ERASURES, via: 'erase' });
    await log.append(erasureStream(space), 'any', [{ ...stored, id: id ?? stored.id }]);
  };
  let [erased, ordered] = [0, 0];
  for (const { id, type, documentId, reason, at } of lines) {
    const known = orders.get(id);
    if (known?.erasedAt !== undefined || (await countErasable(copy, { type, documentId })) === 0) continue;
    if (known === undefined)
      await append({ type: 'erasure-ordered', data: { type, documentId, reason } }, at, id);
    if (type === FILE_TYPE) {
      ordered++;
      continue;
    }
    const now = new Date().toISOString();
    const by = { at: now, epoch, actor: ERASURES, correlationId: id, via: 'erase' };
    const deletions = localesOf(type, documentId).map((locale) =>
      newEvent({ type: 'entry-deleted', data: { type, documentId, locale } }, by),
    );
    if (deletions.length > 0) await log.append(documentStream(space, type, documentId), 'any', deletions);
    const proof = { order: id, type, documentId };
    const data = { ...proof, events: await planErasure(copy, proof) };
    await append({ type: 'document-erased', data }, now);
    await log.chain?.redact(await redactionsFor(copy, data));
    erased++;
  }
  return { erased, ordered };
}

const ERASURES = { kind: 'process', id: 'erasures' } as const;
