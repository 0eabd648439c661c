import { z } from 'zod';
import { type ImportedLine, importDocuments } from '../transfer/import-documents.ts';
import { defineOperation, type OperatorContext } from './operation.ts';
import { NO_SERVER, NOT_THE_LEADER } from './refuse-elsewhere.ts';

type Imports = NonNullable<OperatorContext['imports']>;

/** Returns the imports under the current lease. Throws a sentence if this process writes nothing. */
export function leadingImports(imports: Imports | undefined): Imports & { readonly epoch: number } {
  if (imports === undefined) throw new Error(NO_SERVER);
  try {
    return { ...imports, epoch: imports.writer.epoch() };
  } catch {
    throw new Error(NOT_THE_LEADER);
  }
}

/** Imports documents into a server that is the leader, while it serves. The server reads the files. */
export const importOperation = defineOperation({
  form: z.strictObject({ files: z.array(z.string()), type: z.string().optional() }),
  writes: true,
  run: importIntoServer,
});

/** Imports the documents of files, and yields the progress. */
export async function* importIntoServer(
  { imports, graph, space }: OperatorContext,
  { files, type }: { readonly files: readonly string[]; readonly type?: string | undefined },
  signal: AbortSignal,
): AsyncGenerator<ImportedLine> {
  const { registry, defaultLocale, writer, epoch } = leadingImports(imports);
  yield* importDocuments({
    files,
    type,
    registry,
    defaultLocale,
    space,
    graph: graph.reader,
    epoch,
    signal,
    write: writer.write,
  });
}
