import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Varve } from '../../services/process/open-varve.ts';
import type { ArchiveFile } from '../../services/strapi/archive.ts';
import { readArchiveSchemas } from '../../services/strapi/archive-schemas.ts';
import { type ArchiveSummary, importArchive } from '../../services/strapi/import-archive.ts';
import { type ImportedDocument, importDocuments } from '../../services/transfer/import-documents.ts';
import { FULL_ACCESS } from '../../shared/access/rights.ts';
import { validateEvent } from '../../shared/events/validate-event.ts';
import { type ContentType, FILE_TYPE, USER_TYPE } from '../../shared/schema/content-type.ts';
import { assembleContentTypes, loadContentTypes } from '../../shared/schema/load-content-types.ts';
import { ARCHIVE_KEY } from '../support/odd-archives.ts';
import { CONFORMANCE_SCHEMA } from '../support/server.ts';
import { openInProcess } from '../support/varve-in-process.ts';
import type { ArchiveInput } from './archive-inputs.ts';
import type { LinesInput } from './line-inputs.ts';

export type ImportInput = ArchiveInput | LinesInput;

/** Imports inputs in this process. */
export type ImportTarget = {
  /** Returns the fault of an input; undefined if it was imported, or refused with a sentence. `isServed`: also reads what was stored. */
  faultOf(input: ImportInput, isServed: boolean): Promise<string | undefined>;
  readonly counts: Counts;
  close(): Promise<void>;
};

/** Inputs that were imported and refused as a whole, documents of the imported ones, and rows that the API answered. */
export type Counts = { imported: number; refused: number; documents: number; answered: number };

/** Milliseconds after which an import hangs. */
const MOST_MS = 30_000;

export async function openImportTarget(): Promise<ImportTarget> {
  const base = mkdtempSync(join(tmpdir(), 'varve-fuzz-imports-'));
  // Lines look for documents in a graph, which here stays empty.
  const empty = await openInProcess(join(base, 'empty'), { content: CONFORMANCE });
  const counts: Counts = { imported: 0, refused: 0, documents: 0, answered: 0 };
  let count = 0;
  return {
    counts,
    async faultOf(input, isServed) {
      const folder = join(base, String(++count));
      const ended = new AbortController();
      try {
        const late = delay(MOST_MS, 'the import does not end', { signal: ended.signal, ref: false });
        late.catch(() => {});
        return await Promise.race([importFault(input, { folder, empty, isServed, counts }), late]);
      } finally {
        ended.abort();
        rmSync(folder, { recursive: true, force: true });
      }
    },
    async close() {
      await empty.close();
      rmSync(base, { recursive: true, force: true });
    },
  };
}

const CONFORMANCE = usable(loadContentTypes(CONFORMANCE_SCHEMA));

type Loaded = Exclude<ReturnType<typeof loadContentTypes>, { readonly kind: 'problems' }>;

function usable(loaded: ReturnType<typeof loadContentTypes>): Loaded {
  if (loaded.kind === 'problems') throw new Error(loaded.problems.map(({ message }) => message).join('; '));
  return loaded;
}

/** A wrong result of an import. Other errors refuse its input. */
class Fault extends Error {}

type Place = {
  readonly folder: string;
  readonly empty: Varve;
  readonly isServed: boolean;
  readonly counts: Counts;
};

async function importFault(
  input: ImportInput,
  { folder, empty, isServed, counts }: Place,
): Promise<string | undefined> {
  try {
    const path = writeInput(input, join(folder, 'input'));
    const loaded =
      input.kind === 'lines'
        ? CONFORMANCE
        : usable(assembleContentTypes(await readArchiveSchemas({ file: path, key: ARCHIVE_KEY })));
    const served = isServed ? await openInProcess(join(folder, 'data'), { content: loaded }) : undefined;
    try {
      const work = { folder, path, loaded, varve: served ?? empty, isServed };
      const stored =
        input.kind === 'lines' ? await importLines(input, work) : await importMembers(input, work);
      counts.documents += stored;
      if (served !== undefined) counts.answered += await countAnswered(served, loaded, stored);
    } finally {
      await served?.close();
    }
    counts.imported++;
    return undefined;
  } catch (error) {
    counts.refused++;
    return error instanceof Fault ? error.message : faultOfRefusal(error);
  }
}

/** Returns why an error is not a sentence about the input. */
function faultOfRefusal(error: unknown): string | undefined {
  const { message, stack, code } = error as Error & { readonly code?: string };
  const isOwn = Object.getPrototypeOf(error) === Error.prototype && code?.startsWith('ERR_') !== true;
  return isOwn && isSentence(message) ? undefined : `failed: ${stack?.slice(0, 800)}`;
}

/** Parts of messages that name nothing, or that come from the code. */
const UNCLEAR =
  /\[object \w+\]|is not a function|is not iterable|Cannot (read|convert|destructure)|Maximum call stack|Invalid (array|string) length|\bat \S+:\d+:\d+|SQLITE|^$/;

function isSentence(text: string): boolean {
  return !UNCLEAR.test(text);
}

function writeInput(input: ImportInput, base: string): string {
  const put = (name: string, bytes: Buffer) => {
    const path = join(base, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, bytes);
    return path;
  };
  mkdirSync(base, { recursive: true });
  const paths = input.members.map(([name, bytes]) => put(name, bytes));
  return input.isFolder ? base : (paths[0] ?? base);
}

type Work = {
  readonly folder: string;
  readonly path: string;
  readonly loaded: Loaded;
  readonly varve: Varve;
  readonly isServed: boolean;
};

/** Returns a function that checks the events of each document, and stores them if the server is read afterwards. */
function writerOf({ varve, isServed }: Work) {
  return async (document: ImportedDocument): Promise<readonly string[]> => {
    for (const event of document.events) {
      const problem = validateEvent({ ...event, data: JSON.parse(JSON.stringify(event.data)) });
      if (problem !== undefined) throw new Fault(`stores an event that no reader accepts: ${problem}`);
    }
    return isServed ? (varve.operator.imports?.writer.write(document) ?? ['no imports']) : [];
  };
}

async function epochOf({ varve, isServed }: Work): Promise<number> {
  if (!isServed) return 1;
  for (let turn = 0; varve.fleet.lead() === undefined; turn++) {
    if (turn > 1_000) throw new Fault('the server did not become the leader');
    await delay(10);
  }
  return varve.operator.imports?.writer.epoch() ?? 1;
}

const COMMON = { defaultLocale: 'en', space: 'varve' };

/** Returns the number of stored documents. */
async function importLines(input: LinesInput, work: Work): Promise<number> {
  const refused = new Set<string>();
  let documents = 0;
  const lines = importDocuments({
    ...COMMON,
    files: [work.path],
    type: input.type,
    registry: work.loaded.registry,
    graph: work.varve.operator.graph.reader,
    epoch: await epochOf(work),
    write: writerOf(work),
  });
  for await (const line of lines) {
    if (line.kind === 'progress') documents += line.documents;
    if (line.kind !== 'refused') continue;
    refused.add(line.place);
    if (!isSentence(line.reason)) throw new Fault(`refuses with: ${line.reason}`);
  }
  if (input.rows !== undefined && documents + refused.size !== input.rows)
    throw new Fault(`${input.rows} lines, ${documents} stored and ${refused.size} refused`);
  return documents;
}

/** Returns the number of stored documents. */
async function importMembers(input: ArchiveInput, work: Work): Promise<number> {
  const { imports, graph } = work.varve.operator;
  const skip = async ({ content }: ArchiveFile): Promise<void> => void (await Array.fromAsync(content));
  const { takeAsset, defineRoles } =
    work.isServed && imports !== undefined ? imports : { takeAsset: skip, defineRoles: async () => {} };
  const summary = await importArchive({
    ...COMMON,
    file: work.path,
    key: ARCHIVE_KEY,
    registry: work.loaded.registry,
    epoch: await epochOf(work),
    graph: graph.reader,
    write: writerOf(work),
    takeAsset,
    defineRoles,
    roleDrafts: [],
    stagingFile: join(work.folder, 'staging.db'),
    onBytes: () => {},
    onDocuments: () => {},
  });
  checkSummary(input, summary);
  return summary.documents;
}

function checkSummary({ rows }: ArchiveInput, summary: ArchiveSummary): void {
  const counts = Object.values(summary.rows);
  const read = counts.reduce((sum, each) => sum + each.read, 0);
  if (rows !== undefined && read !== rows) throw new Fault(`${rows} rows, and ${read} read`);
  const missing = summary.mismatches.find((text) => text.includes('without a reason'));
  if (missing !== undefined) throw new Fault(missing);
  const notes = summary.notes.flatMap(({ what, reason }) => [what, reason]);
  const unclear = [...notes, ...summary.refused, ...summary.mismatches].find((text) => !isSentence(text));
  if (unclear !== undefined) throw new Fault(`the summary says: ${unclear}`);
}

/** Returns the number of rows that the API answers. Throws unless it answers all rows of the graph, which are those of so many documents. */
async function countAnswered(varve: Varve, { registry }: Loaded, documents: number): Promise<number> {
  const answersTo = remembersAnswers(varve);
  const stored = new Set<string>();
  let answered = 0;
  for (const { rows } of varve.operator.graph.readAll()) {
    for (const { type: uid, version, row } of rows) {
      const type = registry.contentTypes.get(uid);
      if (row === null || type === undefined) continue;
      const { documentId, locale } = JSON.parse(new TextDecoder().decode(row.source));
      stored.add(`${uid} ${documentId}`);
      // Files have another API.
      if (uid === FILE_TYPE) continue;
      const found = await answersTo(type, version === 'draft' ? 'draft' : 'published');
      if (!found.has(`${documentId} ${locale ?? ''}`))
        throw new Fault(`${uid} ${documentId} ${version} ${locale} is stored, and not answered`);
      answered++;
    }
  }
  if (stored.size !== documents) throw new Fault(`${documents} documents, and ${stored.size} in the graph`);
  return answered;
}

type Rows = readonly { readonly documentId: string; readonly locale?: string | null }[];

/** Returns a function that reads the rows of a type in all locales, once. */
function remembersAnswers(varve: Varve) {
  const { content } = varve.apiFor(FULL_ACCESS);
  const known = new Map<string, ReadonlySet<string>>();
  return async (type: ContentType, status: string): Promise<ReadonlySet<string>> => {
    const key = `${type.uid} ${status}`;
    const earlier = known.get(key);
    if (earlier !== undefined) return earlier;
    const query = `status=${status}&locale=*&populate=*&pagination[pageSize]=100`;
    const bytes =
      type.uid === USER_TYPE ? await content.users.list('populate=*') : await content.list(type, query);
    const body = JSON.parse(new TextDecoder().decode(bytes)) as Rows | { readonly data: Rows };
    const rows = 'data' in body ? body.data : body;
    const found = new Set(rows.map(({ documentId, locale }) => `${documentId} ${locale ?? ''}`));
    known.set(key, found);
    return found;
  };
}
