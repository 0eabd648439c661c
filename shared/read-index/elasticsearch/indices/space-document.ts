import type { Client } from '@elastic/elasticsearch';
import type { FaultStore, IndexFault } from '../../index-fault.ts';
import type { PurgingLeader, PurgingLeaderStore } from '../../purging-leader.ts';
import { progressIndex, undefinedOn } from './progress-document.ts';

const OPTIONS = { requestTimeout: 5_000, maxRetries: 0 };

/** Document of a namespace in the index of the progress. It is read in real time. */
export type SpaceDocument<Content> = {
  /** Returns the content; undefined: there is none. */
  read(): Promise<Content | undefined>;
  write(content: Content): Promise<void>;
};

/**
 * Creates the storage of a document. Its id must be no name of a log. The content is stored as a text: if somebody removes the index,
 * Elasticsearch makes it again with a field for each member.
 */
export function createSpaceDocument<Content>(
  client: Client,
  space: string,
  id: string,
): SpaceDocument<Content> {
  const path = (kind: '_doc' | '_source') => `/${progressIndex(space)}/${kind}/${id}`;
  return {
    async read() {
      const request = { method: 'GET', path: path('_source') };
      const found = await client.transport.request(request, OPTIONS).catch(undefinedOn(404));
      return found === undefined ? undefined : JSON.parse((found as { readonly content: string }).content);
    },
    async write(content) {
      const request = { method: 'PUT', path: path('_doc'), body: { content: JSON.stringify(content) } };
      await client.transport.request(request, OPTIONS);
    },
  };
}

/** Creates the storage of the faults that the leader publishes. */
export function createFaultDocument(client: Client, space: string): FaultStore {
  const { read, write } = createSpaceDocument<readonly IndexFault[]>(client, space, 'faults');
  return { read: async () => (await read()) ?? [], write };
}

/** Returns the id of the document that announces a log's purging leader. */
export function purgingLeaderId(log: string): string {
  return `${log}-purging`;
}

/** Creates the storage of that announcement. */
export function createPurgingLeaderDocument(client: Client, space: string, log: string): PurgingLeaderStore {
  return createSpaceDocument<PurgingLeader>(client, space, purgingLeaderId(log));
}
