import { join } from 'node:path';
import { z } from 'zod';
import { type ArchiveSummary, importArchive } from '../strapi/import-archive.ts';
import { leadingImports } from './import.ts';
import { defineOperation, type OperatorContext } from './operation.ts';
import { withScratchDirectory } from './scratch-directory.ts';

/** Lines that an import of an archive reports during its work, and at its end. */
export type ArchiveLine =
  | { readonly kind: 'bytes'; readonly bytes: number }
  | { readonly kind: 'documents'; readonly documents: number; readonly total: number }
  | { readonly kind: 'summary'; readonly summary: ArchiveSummary };

const FORM = z.strictObject({
  file: z.string(),
  key: z.string().optional(),
  roleDrafts: z.array(z.string()),
  database: z
    .strictObject({ collections: z.record(z.string(), z.string()), uploads: z.string().optional() })
    .optional(),
});

/** Imports an archive of `strapi export` while the server, which is the leader, answers requests. The server reads the file. */
export const importArchiveOperation = defineOperation({ form: FORM, writes: true, run: importInServer });

function importInServer(
  { imports, graph, space, data }: OperatorContext,
  { file, key, roleDrafts, database }: z.output<typeof FORM>,
  signal: AbortSignal,
): AsyncIterable<ArchiveLine> {
  const { registry, defaultLocale, writer, epoch, takeAsset, defineRoles } = leadingImports(imports);
  return linesOf(async (say) => {
    const tell = (line: ArchiveLine) => {
      signal.throwIfAborted();
      say(line);
    };
    await withScratchDirectory(data, async (scratch) => {
      const summary = await importArchive({
        file,
        key,
        database,
        registry,
        defaultLocale,
        space,
        epoch,
        takeAsset,
        graph: graph.reader,
        write: writer.write,
        defineRoles,
        roleDrafts,
        stagingFile: join(scratch, 'archive.db'),
        onBytes: (bytes) => tell({ kind: 'bytes', bytes }),
        onDocuments: (documents, total) => tell({ kind: 'documents', documents, total }),
      });
      tell({ kind: 'summary', summary });
    });
  });
}

/** Yields the lines that `work` passes to `say`, as they come. Throws the errors of `work`. */
async function* linesOf<Line>(work: (say: (line: Line) => void) => Promise<void>): AsyncGenerator<Line> {
  const said: Line[] = [];
  let isDone = false;
  let wake = () => {};
  const running = work((line) => {
    said.push(line);
    wake();
  }).finally(() => {
    isDone = true;
    wake();
  });
  // The promise is awaited below, after the last line.
  running.catch(() => {});
  while (!isDone || said.length > 0) {
    if (said.length === 0) await new Promise<void>((resolve) => (wake = resolve));
    yield* said.splice(0);
  }
  await running;
}
