import { type Backoff, backoffMs } from '../../shared/backoff.ts';
import { documentName } from '../graph/stale/stale-documents.ts';
import { noteChange, type WriterState } from './writer-state.ts';

/** Waits before a parked document is sent again. A document that is too large for the cluster is sent once an hour in the end. */
export const RETRY_PARKED: Backoff = Object.freeze({ firstMs: 120_000, longestMs: 3_600_000 });

/** Longest time between two looks at the parked documents. */
const LOOK_EVERY_MS = 30_000;

/** Reasons of an overloaded cluster. Other reasons name a value that does not fit, which another attempt does not change. */
const PASSING =
  /rejected_execution|circuit_breaking|no answer within|timed? ?out|unavailable_shards|cluster_block|index_closed/i;

type Waiting = { readonly attempts: number; readonly due: number };

/**
 * Sends parked documents again whose refusal may have been a passing one, until the writer stops. The wait doubles with each attempt. A new
 * writer begins with the first wait.
 */
export async function retryParked(state: WriterState, waits: Backoff): Promise<void> {
  let known: ReadonlyMap<string, Waiting> = new Map();
  while (!state.stopping) {
    await state.changed.until(() => state.stopping, Math.min(LOOK_EVERY_MS, waits.firstMs));
    if (!state.stopping) known = retryDue(state, known, waits);
  }
}

/** Returns the waits of the documents that are still parked. */
function retryDue(
  state: WriterState,
  known: ReadonlyMap<string, Waiting>,
  waits: Backoff,
): ReadonlyMap<string, Waiting> {
  const { parked } = state.stale;
  const now = state.now();
  const next = new Map<string, Waiting>();
  let retried = 0;
  // A document that is being tried again is hidden.
  for (const document of parked.all()) {
    if (!PASSING.test(document.reason)) continue;
    const name = documentName(document);
    const { attempts, due } = known.get(name) ?? { attempts: 0, due: now + waits.firstMs };
    if (due > now) {
      next.set(name, { attempts, due });
      continue;
    }
    retried += parked.retry([document]);
    next.set(name, { attempts: attempts + 1, due: now + backoffMs(attempts + 2, waits) });
  }
  if (retried > 0) {
    state.wakes++;
    noteChange(state);
  }
  return next;
}
