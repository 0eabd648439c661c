import { z } from 'zod';
import type { AddedFormats } from '../assets/pictures/file-formats.ts';
import { requireSharp } from '../assets/pictures/require-sharp.ts';
import { actAs } from '../command/current-author.ts';
import { leadingImports } from './import.ts';
import { defineOperation, type OperatorContext } from './operation.ts';

/** Outcome for one file. */
export type FormatsLine = AddedFormats & { readonly documentId: string };

const FORM = z.strictObject({ documentIds: z.array(z.string()) });
/** Number of files in work: the number of pictures that are resized at the same time. */
const AT_ONCE = 2;

/** Makes the smaller pictures of files that have none, in the server that is the leader, while it answers requests. */
export const formatsOperation = defineOperation({ form: FORM, writes: true, run: addFormats });

async function* addFormats(
  { imports }: OperatorContext,
  { documentIds }: z.output<typeof FORM>,
  signal: AbortSignal,
): AsyncGenerator<FormatsLine> {
  const { addFormats: add } = leadingImports(imports);
  await requireSharp('varve assets formats');
  for (let i = 0; i < documentIds.length; i += AT_ONCE) {
    signal.throwIfAborted();
    const some = documentIds.slice(i, i + AT_ONCE);
    yield* await Promise.all(
      some.map(async (documentId) => ({
        documentId,
        ...(await actAs({ actor: { kind: 'operator' } }, () => add(documentId))),
      })),
    );
  }
}
