import type { Client } from '@elastic/elasticsearch';
import { type AnsweringProcesses, type AnsweringReport, MOST_ANSWERING } from '../../answering-processes.ts';
import { type ProgressDocumentOptions, progressIndex, undefinedOn } from './progress-document.ts';

/** Maximum documents of a search. It also finds the progress of logs and the acknowledgements. */
const MOST_FOUND = 2 * MOST_ANSWERING;
const OPTIONS = { requestTimeout: 5_000, maxRetries: 0 };

type ReportBody = Omit<AnsweringReport, 'position'> & { readonly position: string };
type AwaitedBody = { readonly epoch: number; readonly beats: Readonly<Record<string, number>> };
type Hit = { readonly _id: string; readonly _source: ReportBody };
type Found = { readonly hits: { readonly hits: readonly Hit[] } };
type Read = { readonly docs: readonly { readonly _source?: ReportBody }[] };

/**
 * Creates the storage for reports, as documents next to the progress. Their names begin with that of the log: `<log>-answers-<process>`,
 * and the leader's `<log>-awaited`. A search finds new processes within a second. Reports of known processes are read in real time.
 */
export function createAnsweringDocuments({
  client,
  space,
  log,
}: ProgressDocumentOptions): AnsweringProcesses {
  const index = progressIndex(space);
  const reportId = (process: string) => `${log}-answers-${process}`;
  return {
    async report(report) {
      const body: ReportBody = { ...report, position: String(report.position) };
      await put(client, `/${index}/_doc/${encodeURIComponent(reportId(report.process))}`, body);
    },
    async reports() {
      const body = { size: MOST_FOUND, query: { match_all: {} } };
      const request = { method: 'POST', path: `/${index}/_search`, body };
      const { hits } = (await client.transport.request(request, OPTIONS)) as Found;
      const found = hits.hits.filter(({ _id }) => _id.startsWith(reportId('')));
      return found.slice(0, MOST_ANSWERING).map(({ _source }) => readReport(_source));
    },
    async reportsOf(processes) {
      const request = { method: 'POST', path: `/${index}/_mget`, body: { ids: processes.map(reportId) } };
      const { docs } = (await client.transport.request(request, OPTIONS)) as Read;
      return docs.flatMap(({ _source }) => (_source === undefined ? [] : [readReport(_source)]));
    },
    async remove(process) {
      const path = `/${index}/_doc/${encodeURIComponent(reportId(process))}`;
      await client.transport.request({ method: 'DELETE', path }, OPTIONS).catch(undefinedOn(404));
    },
    async await({ epoch, beats }) {
      const body: AwaitedBody = { epoch, beats: Object.fromEntries(beats) };
      const version = `version=${epoch}&version_type=external_gte`;
      await put(client, `/${index}/_doc/${encodeURIComponent(awaitedId(log))}?${version}`, body);
    },
    async awaited() {
      const path = `/${index}/_source/${encodeURIComponent(awaitedId(log))}`;
      const answer = await client.transport.request({ method: 'GET', path }, OPTIONS).catch(undefinedOn(404));
      const found = answer as AwaitedBody | undefined;
      return found && { epoch: found.epoch, beats: new Map(Object.entries(found.beats)) };
    },
  };
}

/** Returns the id of the document with the processes that a leader awaits. Its version is the leader's epoch. */
export function awaitedId(log: string): string {
  return `${log}-awaited`;
}

function readReport(body: ReportBody): AnsweringReport {
  return { ...body, position: BigInt(body.position) };
}

/** Writes a document, unless a later leader has written it. */
async function put(client: Client, path: string, body: object): Promise<void> {
  await client.transport.request({ method: 'PUT', path, body }, OPTIONS).catch(undefinedOn(409));
}
