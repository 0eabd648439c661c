import { isHash } from '../../shared/asset-store/asset-hash.ts';
import type { StagedAsset } from '../../shared/asset-store/asset-store.ts';
import { nameInSpace, servedName } from '../../shared/asset-store/served-names.ts';
import { defined } from '../../shared/defined.ts';
import type { Entry } from '../../shared/document/entry.ts';
import type { CommandIdentity } from '../../shared/event-store/event-store.ts';
import { createLocks } from '../../shared/locks.ts';
import { firstRow } from '../../shared/read-index/first-row.ts';
import type { ReadIndex } from '../../shared/read-index/read-index.ts';
import { isOutage, RequestError } from '../../shared/request-error.ts';
import { FILE_TYPE } from '../../shared/schema/content-type.ts';
import type { CommandResult, CreateCommand, Unshown, UpdateCommand } from '../command/command.ts';
import { partOf } from '../command/command-identity.ts';
import { contentValues, type UploadName } from './file-values.ts';
import { createFileFormats, type FileFormatsOptions } from './pictures/file-formats.ts';
import { formatNamesOf, possibleFormatNames } from './pictures/format-names.ts';
import { discardAll, type ReceivedFile } from './receive-upload.ts';

/** Files that were written. If `applied` is false, they are stored, but reads do not show them yet. */
export type WrittenFiles = {
  readonly documentIds: readonly string[];
  readonly position: bigint;
  readonly applied: boolean;
  /** Reason if `applied` is false. */
  readonly unshown?: Unshown;
};

/**
 * Stores content and then the events that name it, under the lock of its hash. So content exists before the first event that names it, and
 * is deleted after the last file with it. The store marks it as suspect while either is uncertain: `sweep` finds the content that a process
 * left behind when it ended.
 */
export type FileContents = ReturnType<typeof createFileContents>;

/** Attributes of a file that do not follow from its content. */
type Named = { readonly name: string };

export type FileContentsOptions = Omit<FileFormatsOptions, 'locks' | 'holding'> & {
  readonly index: ReadIndex;
  readonly uploadName: UploadName;
};

type FileData = Named & ReturnType<typeof contentValues>;
type FileCommand =
  | Pick<CreateCommand, 'kind' | 'identity'>
  | Pick<UpdateCommand, 'kind' | 'documentId' | 'identity'>;

/**
 * Creates the part of the library that keeps contents while a file has them. It locks contents in this process. Only the leader removes
 * them.
 */
export function createFileContents(options: FileContentsOptions) {
  const { store, commands, graph, space, uploadName } = options;
  const locks = createLocks();
  const holding = <Result>(hash: string, work: () => Promise<Result>) => locks.run([hash], work);
  /**
   * Removes content that no file has, and its suspect record. Must be called under the lock of the content, while no command about it runs.
   * `formats` are the names of smaller pictures that are removed with it.
   */
  const settle = async (hash: string, formats: readonly string[] = []) => {
    if (!(await isUsed(options, hash))) {
      await Promise.all(formats.map(forgetName));
      await store.delete(hash);
    }
    await store.clear(hash);
  };
  /** Content with a name of its own is removed with it, unless it has another name. */
  const forgetName = async (name: string): Promise<void> => {
    const content = await store.names.find(name);
    if (content === undefined) return;
    await holding(content.hash, async () => {
      await store.suspect(content.hash);
      await store.names.take(name);
      await settle(content.hash);
    });
  };
  const possible = (hash: string) => possibleFormatNames(space, uploadName(hash));
  const formats = createFileFormats({ ...options, holding, locks });
  const write = ({ staged }: ReceivedFile, command: FileCommand, data: FileData) =>
    holding(staged.hash, async () => {
      await store.suspect(staged.hash);
      await staged.keep();
      try {
        const body = { data: { ...data, ...(await formats.ofNew(data)) } };
        const result = await commands.execute({ ...command, type: FILE_TYPE, body });
        // An event names the content now, even if the suspect record cannot be removed.
        await store.clear(staged.hash).catch(() => {});
        return result;
      } catch (error) {
        // After any failure other than a refusal, an event may name the content.
        if (error instanceof RequestError && !isOutage(error))
          await settle(staged.hash, possible(staged.hash));
        throw error;
      }
    });
  /** Content of an imported file is removed with its original names. */
  const forgetNames = async (file: Entry) => {
    for (const name of [...keptNames(space, file), ...formatNamesOf(space, file)]) await forgetName(name);
  };
  const removeImported = async (file: Entry, identity?: CommandIdentity) => {
    const { documentId } = file;
    const result = await commands.execute({ kind: 'delete', type: FILE_TYPE, documentId, identity });
    if (result.applied) await forgetNames(file);
    const hash = hashOf(file);
    if (result.applied && isHash(hash)) await holding(hash, () => settle(hash));
    return writtenFiles([result]);
  };
  const removeUploaded = (file: Entry, identity?: CommandIdentity) =>
    holding(hashOf(file), async () => {
      const { documentId } = file;
      await store.suspect(hashOf(file));
      const result = await commands.execute({ kind: 'delete', type: FILE_TYPE, documentId, identity });
      // If the deletion is not applied yet, reads still show the file: its content remains until `sweep`.
      if (result.applied) await settle(hashOf(file), formatNamesOf(space, file));
      return writtenFiles([result]);
    });
  /** Returns whether the name in a file's URL is its hash, as in files of a Varve export that is imported again. */
  const isNamedByHash = ({ values }: Entry) => String(values['url']).includes(`/${String(values['hash'])}`);
  const remove = (file: Entry, identity?: CommandIdentity) =>
    isHash(hashOf(file)) && !isNamedByHash(file)
      ? removeUploaded(file, identity)
      : removeImported(file, identity);
  const removeAll = async (documentIds: readonly string[]) => {
    const files = documentIds.flatMap((documentId) => graph.entries(FILE_TYPE, documentId));
    for (const file of files) await remove(file);
  };
  return {
    /** Adds all of `files` or none; `values` are their attributes besides those of the content. */
    async addAll(
      files: readonly ReceivedFile[],
      values: (file: ReceivedFile, i: number) => Named,
      identity?: CommandIdentity,
    ): Promise<WrittenFiles> {
      const results: CommandResult[] = [];
      try {
        for (const [i, file] of files.entries()) {
          const data = { ...contentValues(file, uploadName), ...values(file, i) };
          const own = partOf(identity, `file ${i}`);
          results.push(await write(file, { kind: 'create', identity: own }, data));
        }
      } catch (error) {
        await discardAll(files.slice(results.length));
        await removeAll(results.map(({ documentId }) => documentId));
        throw error;
      }
      for (const { documentId } of results) formats.later(documentId);
      return writtenFiles(results);
    },
    async replace(
      before: Entry,
      file: ReceivedFile,
      values: Named,
      identity?: CommandIdentity,
    ): Promise<WrittenFiles> {
      const { documentId } = before;
      const hash = hashOf(before);
      const data = { formats: null, ...contentValues(file, uploadName), ...values };
      const isImported = !isHash(hash);
      const isOther = !isImported && hash !== file.staged.hash;
      if (isOther) await store.suspect(hash);
      const result = await write(file, { kind: 'update', documentId, identity }, data);
      if (result.applied && isOther) await holding(hash, () => settle(hash, formatNamesOf(space, before)));
      if (result.applied && isImported) await forgetNames(before);
      formats.later(documentId);
      return writtenFiles([result]);
    },
    remove,
    removeAll,
    /** Removes the content of an imported file, after its row was deleted. */
    forgetNames,
    /** Removes content that was suspected before a time (milliseconds since 1970) and that no file names. */
    async sweep(before: number): Promise<void> {
      for await (const hash of store.suspects(before))
        await holding(hash, () => settle(hash, possible(hash)));
    },
    /** Stores content under the name that it had in another system. */
    keepNamed: (staged: StagedAsset, name: string, mime: string) =>
      holding(staged.hash, async () => {
        await store.suspect(staged.hash);
        await staged.keep();
        await store.names.give(nameInSpace(space, name), { hash: staged.hash, mime });
        await store.clear(staged.hash);
      }),
    /** Makes the smaller pictures of a file that has none. */
    addFormats: formats.add,
  };
}

/** Returns the results of several commands as one: the last position, and whether reads show all of them. */
export function writtenFiles(results: readonly CommandResult[]): WrittenFiles {
  return {
    documentIds: results.map(({ documentId }) => documentId),
    position: results.at(-1)?.position ?? 0n,
    applied: results.every(({ applied }) => applied),
    ...defined({ unshown: results.find(({ unshown }) => unshown !== undefined)?.unshown }),
  };
}

/**
 * Returns whether a file or a name has the content. It asks the graph and the index, because each may lag: content is deleted when neither
 * has a file with it.
 */
async function isUsed({ graph, index, store }: FileContentsOptions, hash: string): Promise<boolean> {
  if (await store.names.isNamed(hash)) return true;
  if (graph.documentWithUnique({ type: FILE_TYPE, place: 'hash', locale: null, text: hash }) !== undefined)
    return true;
  const query = { kind: 'term', field: 'hash', value: hash } as const;
  return (await firstRow(index, { type: FILE_TYPE, world: 'published', query })) !== undefined;
}

function hashOf(file: Entry): string {
  return String(file.values['hash']);
}

/** Returns the names of an imported file: its own, and those of its smaller pictures. */
function keptNames(space: string, { values }: Entry): readonly string[] {
  const formats = Object.values((values['formats'] ?? {}) as { readonly [format: string]: unknown });
  return [values, ...formats].flatMap((picture) => {
    const name = servedName((picture as { readonly url?: unknown } | null)?.url);
    return name === undefined ? [] : [nameInSpace(space, name)];
  });
}
