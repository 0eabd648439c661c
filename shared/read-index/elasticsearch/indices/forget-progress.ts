import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from '@elastic/elasticsearch';
import { acknowledged } from './acknowledged.ts';
import { type ProgressDocumentOptions, progressIndex, undefinedOn } from './progress-document.ts';
import { purgingLeaderId } from './space-document.ts';

const OPTIONS = { requestTimeout: 10_000, maxRetries: 0 };
const RETRY_MS = 100;
/** Elasticsearch's clock for deleted documents moves five times a second. */
const ATTEMPTS = 50;

/**
 * Removes what leaders of a later state of the log have published. Then earlier positions can be published again. The document of
 * the progress has these as its versions, and Elasticsearch remembers the version of a deleted document for a minute.
 */
export async function forgetProgress({ client, space, log }: ProgressDocumentOptions): Promise<void> {
  const index = progressIndex(space);
  await rememberDeletes(client, index, '0s');
  try {
    for (const id of [log, purgingLeaderId(log)]) {
      const request = { method: 'DELETE', path: `/${index}/_doc/${encodeURIComponent(id)}` };
      await client.transport.request(request, OPTIONS).catch(undefinedOn(404));
    }
    await writeFirst({ client, space, log });
  } finally {
    await rememberDeletes(client, index, null);
  }
}

/** Writes a progress with version 0, so that any progress replaces it. Retries while Elasticsearch remembers the deleted version. */
async function writeFirst({ client, space, log }: ProgressDocumentOptions): Promise<void> {
  const path = `/${progressIndex(space)}/_doc/${encodeURIComponent(log)}?version=0&version_type=external_gte`;
  const body = { epoch: 0, position: '0', parked: [] };
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const answer = await client.transport
      .request({ method: 'PUT', path, body }, OPTIONS)
      .catch(undefinedOn(409));
    if (answer !== undefined) return;
    await delay(RETRY_MS);
  }
  throw new Error(`Elasticsearch keeps the version of a deleted document in ${progressIndex(space)}`);
}

/** `null`: as long as by default. */
function rememberDeletes(client: Client, index: string, gc_deletes: '0s' | null): Promise<void> {
  const request = { method: 'PUT', path: `/${index}/_settings`, body: { index: { gc_deletes } } };
  return acknowledged(
    client.transport.request(request, OPTIONS) as Promise<{ readonly acknowledged: boolean }>,
  );
}
