import { z } from 'zod';
import { type ImportLine, importDocuments } from '../transfer/import-documents.ts';
import { defineOperation, type OperatorContext } from './operation.ts';

/** Imports documents beside the requests of a server that leads. The files are read by the server. */
export const importOperation = defineOperation({
  form: z.strictObject({ files: z.array(z.string()) }),
  run: importFiles,
});

async function* importFiles(
  { imports, graph, space }: OperatorContext,
  { files }: { readonly files: readonly string[] },
  signal: AbortSignal,
): AsyncGenerator<ImportLine> {
  if (imports === undefined) throw new Error('there is nothing here that writes');
  const { registry, defaultLocale, writer } = imports;
  let epoch: number;
  try {
    epoch = writer.epoch();
  } catch {
    throw new Error('this server does not lead: import through the data directory of the one that does');
  }
  yield* importDocuments({
    ...{ files, registry, defaultLocale, space, graph: graph.reader, epoch, signal },
    write: writer.write,
  });
}
