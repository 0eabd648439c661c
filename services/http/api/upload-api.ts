import type { CommandIdentity } from '../../../shared/event-store/event-store.ts';
import type { ReadIndex } from '../../../shared/read-index/read-index.ts';
import { RequestError } from '../../../shared/request-error.ts';
import { FILE_TYPE } from '../../../shared/schema/content-type.ts';
import { contentTypeOf } from '../../../shared/schema/schema-registry.ts';
import type { AnswerTerms } from '../../../shared/turns/turns.ts';
import type { WrittenFiles } from '../../assets/file-contents.ts';
import type { FileLibrary } from '../../assets/file-library.ts';
import type { UploadPart } from '../../assets/receive-upload.ts';
import { answerBareEntry } from '../../query/answer-entry.ts';
import { answerBareList } from '../../query/answer-list.ts';
import { DEFAULT_ROW_BUDGET } from '../../query/gather-rows.ts';
import { planList, planUsersEntry, planUsersList, type QueryRequest } from '../../query/plan-query.ts';
import { parseQueryString } from '../../query/query-string.ts';
import { answerToWrite } from './answer-to-write.ts';
import type { ContentApiOptions } from './content-api-options.ts';

/** Answer to a stored write. `body`: the files as they are now; null if the index did not show them in time (202). */
export type UploadAnswer = Omit<WrittenFiles, 'applied'> & { readonly body: Uint8Array | null };

/** Body of a write: a form, or a JSON request. */
export type UploadBody =
  | { readonly kind: 'form'; readonly parts: AsyncIterable<UploadPart> }
  | { readonly kind: 'json'; readonly value: unknown };

/** API of `/api/upload`, independent of HTTP. Answers have no `data` and `meta`, as in Strapi's upload plugin. */
export type UploadApi = {
  /** Returns all files, unless the query limits them. Throws RequestError (400) if there are more than the row budget. */
  list(query: string): Promise<Uint8Array>;
  one(id: string, query: string): Promise<Uint8Array>;
  /** Adds files, and answers with their list (`created`). If the query has an `id`, changes that file. */
  write(
    query: string,
    body: UploadBody,
    command?: CommandIdentity,
  ): Promise<UploadAnswer & { readonly created: boolean }>;
  /** Answers with the file as it was. */
  remove(id: string, command?: CommandIdentity): Promise<UploadAnswer>;
};

export type UploadApiOptions = Pick<ContentApiOptions, 'registry' | 'index' | 'defaultLocale' | 'caller'> & {
  readonly library: FileLibrary;
};

/** Creates the upload API for one kind of caller. Queries and answers are limited to what `caller` may see. */
export function createUploadApi(options: UploadApiOptions): UploadApi {
  const { registry, index, library, defaultLocale, caller } = options;
  const type = contentTypeOf(registry, FILE_TYPE);
  const request = (queryString: string): QueryRequest => ({
    registry,
    type,
    queryString,
    defaultLocale,
    ...caller,
  });
  const show = async (id: number | string, query: string, terms?: AnswerTerms): Promise<Buffer> => {
    const file = await answerBareEntry(index, planUsersEntry(request(query)), id, terms);
    if (file === null) throw new RequestError('not-found', 'file.notFound');
    return file;
  };
  const present = async (
    { applied, ...written }: WrittenFiles,
    bodyOf: (files: readonly Buffer[]) => Buffer | null,
  ) => {
    const showAll = (terms: AnswerTerms) => Promise.all(written.documentIds.map((id) => show(id, '', terms)));
    const files = applied ? await answerToWrite(showAll) : null;
    return { ...written, body: files && bodyOf(files) };
  };
  return {
    list: (query) => listFiles(index, request(query)),
    one: (id, query) => show(fileId(id), query),
    async write(query, body, command) {
      const { id, status, locale } = parseQueryString(query);
      if (id === undefined) {
        const parts = body.kind === 'form' ? body.parts : noParts();
        const written = await library.add(parts, { status, locale }, command);
        return { ...(await present(written, jsonList)), created: true };
      }
      const written = await change(library, id, body, command);
      return { ...(await present(written, ([file = null]) => file)), created: false };
    },
    async remove(id, command) {
      const body = await show(fileId(id), '');
      const { documentIds, position } = await library.remove(id, command);
      return { documentIds, position, body };
    },
  };
}

/** Returns a file's numeric id, or its documentId. */
function fileId(id: string): number | string {
  return /^\d{1,15}$/.test(id) ? Number(id) : id;
}

function change(
  library: FileLibrary,
  id: unknown,
  body: UploadBody,
  command: CommandIdentity | undefined,
): Promise<WrittenFiles> {
  if (typeof id !== 'string' || id === '') {
    throw new RequestError('invalid-body', 'File id is required and must be a single value');
  }
  if (body.kind === 'form') return library.change(id, body.parts, command);
  const info = (body.value as { readonly fileInfo?: unknown } | undefined)?.fileInfo;
  return library.describe(id, info ?? {}, command);
}

async function* noParts(): AsyncGenerator<UploadPart> {}

/**
 * Returns all files, or those from `start` up to `limit`, as Strapi does. Unlike Strapi it also returns a page, if the query asks for one.
 */
async function listFiles(index: ReadIndex, request: QueryRequest): Promise<Uint8Array> {
  if (parseQueryString(request.queryString)['pagination'] !== undefined)
    return answerBareList(index, planList(request));
  const plan = planUsersList(request);
  if (Number.isFinite(plan.search.size)) return answerBareList(index, plan);
  const search = { ...plan.search, size: DEFAULT_ROW_BUDGET, withTotal: true };
  const { total = 0 } = await index.search({ ...search, size: 0 });
  if (total <= DEFAULT_ROW_BUDGET) return answerBareList(index, { ...plan, search });
  throw new RequestError('query-too-large', `There are ${total} files: ask for a page of them`, {
    param: 'pagination',
    found: total,
    accepted: `at most ${DEFAULT_ROW_BUDGET} files without pagination`,
  });
}

function jsonList(items: readonly Buffer[]): Buffer {
  return Buffer.from(`[${items.map((item) => item.toString()).join(',')}]`);
}
