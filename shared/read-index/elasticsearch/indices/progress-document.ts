import { type Client, errors } from '@elastic/elasticsearch';
import { type OwnerStore, parseOwners } from '../../../owner-record.ts';
import type { IndexProgress, ParkedState, ProgressStore } from '../../index-progress.ts';
import { acknowledged } from './acknowledged.ts';

export type ProgressDocumentOptions = {
  readonly client: Client;
  readonly space: string;
  /** Log from which the documents are made. The progress of another log is meaningless. */
  readonly log: string;
};

/** Document in `<space>-progress`, with the name of the log as its id. Positions are strings, because JSON has no 64-bit integers. */
type ProgressBody = {
  readonly epoch: number;
  readonly position: string;
  readonly history?: string;
  readonly parked: readonly (Omit<ParkedState, 'position'> & { readonly position: string })[];
};

const OPTIONS = { requestTimeout: 10_000, maxRetries: 0 };

/** Returns the name of the index with the progress and the owner of a namespace. */
export function progressIndex(space: string): string {
  return `${space}-progress`;
}

/** Creates the storage of the progress. It is read in real time, not by a search, so it needs no refresh. */
export function createProgressDocument({ client, space, log }: ProgressDocumentOptions): ProgressStore {
  const path = (kind: '_doc' | '_source') => `/${progressIndex(space)}/${kind}/${encodeURIComponent(log)}`;
  return {
    async read() {
      const request = { method: 'GET', path: path('_source') };
      const answer = await client.transport.request(request, OPTIONS).catch(undefinedOn(404));
      return answer === undefined ? undefined : readBody(answer as ProgressBody);
    },
    async write({ position, parked, ...named }) {
      const query = `version=${position}&version_type=external_gte`;
      const body = { ...named, position: String(position), parked: parked.map(storeParked) };
      const request = { method: 'PUT', path: `${path('_doc')}?${query}`, body };
      // 409: another process has written a later position.
      await client.transport.request(request, OPTIONS).catch(undefinedOn(409));
    },
  };
}

/** Creates the index of the progress if there is none. Its documents are only read by their ids. */
export async function openProgressIndex(client: Client, space: string): Promise<void> {
  const index = progressIndex(space);
  const settings = { number_of_shards: 1, auto_expand_replicas: '0-1' };
  try {
    await acknowledged(client.indices.create({ index, settings, mappings: { enabled: false } }));
  } catch (error) {
    if (!hasStatus(error, 400) || !(await client.indices.exists({ index }))) throw error;
    // Elasticsearch may have made it for a document, with a replica for which a single node has no place.
    const { auto_expand_replicas } = settings;
    await acknowledged(client.indices.putSettings({ index, settings: { auto_expand_replicas } }));
  }
}

/** Creates the storage of the owner record. It is next to the progress of logs, whose names are UUIDs. */
export function createOwnerDocument(client: Client, space: string): OwnerStore {
  const path = (kind: '_doc' | '_source') => `/${progressIndex(space)}/${kind}/owner`;
  return {
    async read() {
      const request = { method: 'GET', path: path('_source') };
      const found = await client.transport.request(request, OPTIONS).catch(undefinedOn(404));
      if (found === undefined) return {};
      return parseOwners(JSON.stringify(found), `the document owner of ${progressIndex(space)}`).owners;
    },
    async write(owners) {
      await openProgressIndex(client, space);
      await client.transport.request({ method: 'PUT', path: path('_doc'), body: { owners } }, OPTIONS);
    },
  };
}

function readBody({ position, parked, ...named }: ProgressBody): IndexProgress {
  return {
    ...named,
    position: BigInt(position),
    parked: parked.map((each) => ({ ...each, position: BigInt(each.position) })),
  };
}

function storeParked(parked: ParkedState): ProgressBody['parked'][number] {
  const { type, world, key, position, reason, isHidden = false } = parked;
  return { type, world, key, position: String(position), reason, isHidden };
}

/** Returns whether an error is an answer of the cluster with this HTTP status. */
function hasStatus(error: unknown, status: number): boolean {
  return error instanceof errors.ResponseError && error.statusCode === status;
}

/** Returns a handler for `catch`. It returns undefined for answers of the cluster with these HTTP statuses, and throws other errors. */
export function undefinedOn(...statuses: readonly number[]): (error: unknown) => undefined {
  return (error) => {
    if (!statuses.some((status) => hasStatus(error, status))) throw error;
  };
}
