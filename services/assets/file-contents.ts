import type { AssetStore } from '../../shared/asset-store/asset-store.ts';
import type { ContentGraphReader, Entry } from '../../shared/document/entry.ts';
import type { ReadIndex } from '../../shared/read-index/read-index.ts';
import { FILE_TYPE } from '../../shared/schema/content-type.ts';
import type { CommandResult } from '../command/command.ts';
import type { CommandHandler } from '../command/command-handler.ts';
import { createLocks } from '../command/locks.ts';
import { contentValues } from './file-values.ts';
import { discardAll, type ReceivedFile } from './receive-upload.ts';

/** Files that were written. `applied` false: stored, but reads do not show them yet. */
export type WrittenFiles = {
  readonly documentIds: readonly string[];
  readonly position: bigint;
  readonly applied: boolean;
};

/**
 * Content and the events that name it, one after the other under the lock of its hash: content is there before the first
 * event that names it, and goes after the last file that has it.
 */
export type FileContents = {
  /** All of `files` or none; `values` are what their attributes are beside what follows from the content. */
  addAll(
    files: readonly ReceivedFile[],
    values: (file: ReceivedFile, i: number) => object,
  ): Promise<WrittenFiles>;
  replace(before: Entry, file: ReceivedFile, values: object): Promise<WrittenFiles>;
  remove(file: Entry): Promise<WrittenFiles>;
  removeAll(documentIds: readonly string[]): Promise<void>;
};

export type FileContentsOptions = {
  readonly store: AssetStore;
  readonly commands: CommandHandler;
  readonly graph: ContentGraphReader;
  readonly index: ReadIndex;
};

export function createFileContents({ store, commands, graph, index }: FileContentsOptions): FileContents {
  const locks = createLocks();
  const holding = async <Result>(hash: string, run: () => Promise<Result>): Promise<Result> => {
    const release = await locks.acquire([hash]);
    try {
      return await run();
    } finally {
      release();
    }
  };
  const deleteUnused = async (hash: string) => {
    if (!(await isUsed(index, hash))) await store.delete(hash);
  };
  const write = ({ staged }: ReceivedFile, execute: () => Promise<CommandResult>) =>
    holding(staged.hash, async () => {
      await staged.keep();
      try {
        return await execute();
      } catch (error) {
        await deleteUnused(staged.hash);
        throw error;
      }
    });
  const remove = (file: Entry) =>
    holding(hashOf(file), async () => {
      const { documentId } = file;
      const result = await commands.execute({ kind: 'delete', type: FILE_TYPE, documentId });
      // Not applied: reads still show the file, so its content stays.
      if (result.applied) await deleteUnused(hashOf(file));
      return writtenFiles([result]);
    });
  const removeAll = async (documentIds: readonly string[]) => {
    const files = documentIds.flatMap((documentId) => graph.entries(FILE_TYPE, documentId));
    for (const file of files) await remove(file);
  };
  return {
    async addAll(files, values) {
      const results: CommandResult[] = [];
      try {
        for (const [i, file] of files.entries()) {
          const data = { ...contentValues(file), ...values(file, i) };
          results.push(
            await write(file, () => commands.execute({ kind: 'create', type: FILE_TYPE, body: { data } })),
          );
        }
      } catch (error) {
        await discardAll(files.slice(results.length));
        await removeAll(results.map(({ documentId }) => documentId));
        throw error;
      }
      return writtenFiles(results);
    },
    async replace(before, file, values) {
      const { documentId } = before;
      const data = { ...contentValues(file), ...values };
      const result = await write(file, () =>
        commands.execute({ kind: 'update', type: FILE_TYPE, documentId, body: { data } }),
      );
      const hash = hashOf(before);
      if (result.applied && hash !== file.staged.hash) await holding(hash, () => deleteUnused(hash));
      return writtenFiles([result]);
    },
    remove,
    removeAll,
  };
}

export function writtenFiles(results: readonly CommandResult[]): WrittenFiles {
  return {
    documentIds: results.map(({ documentId }) => documentId),
    position: results.at(-1)?.position ?? 0n,
    applied: results.every(({ applied }) => applied),
  };
}

async function isUsed(index: ReadIndex, hash: string): Promise<boolean> {
  const { hits } = await index.search({
    type: FILE_TYPE,
    world: 'published',
    query: { kind: 'term', field: 'hash', value: hash },
    sort: [],
    from: 0,
    size: 1,
    withTotal: false,
  });
  return hits.rows.length > 0;
}

function hashOf(file: Entry): string {
  return String(file.values['hash']);
}
