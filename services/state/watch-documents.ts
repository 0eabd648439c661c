import type { ConditionCheck } from '../operating/conditions.ts';
import type { DocumentsStatus } from '../operating/operating.ts';

/** Seconds after which a stale document is more than the usual delay of a large fan-out. */
const LATE_SECONDS = 300;

/** Returns a check whether Elasticsearch refuses documents. */
export function checkParked(status: () => Pick<DocumentsStatus, 'refused'>): ConditionCheck {
  return () => {
    const { refused } = status();
    if (refused === 0) return undefined;
    const documents = refused === 1 ? '1 document is' : `${refused} documents are`;
    return { code: 'documents-parked', message: `${documents} parked, because Elasticsearch refuses them` };
  };
}

/** Returns a check whether documents are written late. */
export function checkBacklog(
  status: () => Pick<DocumentsStatus, 'backlog' | 'oldestSeconds'>,
): ConditionCheck {
  return () => {
    const { backlog, oldestSeconds } = status();
    if (oldestSeconds < LATE_SECONDS) return undefined;
    const message = `${backlog} documents in Elasticsearch are stale, the oldest for ${Math.round(oldestSeconds)} s`;
    return { code: 'index-behind', message };
  };
}
