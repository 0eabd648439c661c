import { z } from 'zod';
import type { VerificationLine } from '../../projections/verification/difference.ts';
import { verifyDocuments } from '../../projections/verification/verify-documents.ts';
import { verifyRows } from '../../projections/verification/verify-rows.ts';
import { assertNever } from '../../shared/assert-never.ts';
import { defineOperation, type OperatorContext } from './operation.ts';

/** Compares the read index with the graph while both continue to change. With `repair`, differences are written again. */
export const verifyIndexOperation = defineOperation({
  form: z.strictObject({ repair: z.boolean() }),
  run: verifyIndex,
});

/** Pause between slices, so that requests run first. */
const PAUSE_MS = 5;

async function* verifyIndex(
  { graph, readSide, server }: OperatorContext,
  { repair }: { readonly repair: boolean },
  signal: AbortSignal,
): AsyncGenerator<VerificationLine> {
  const opened = await readSide();
  const { index } = opened;
  const contents = opened.contents();
  switch (contents.kind) {
    case 'rows': {
      const pauseMs = server ? PAUSE_MS : 0;
      yield* verifyRows({ graph, index, content: contents.content, repair, signal, pauseMs });
      break;
    }
    case 'documents': {
      const { stored, present, remake } = contents;
      yield* verifyDocuments({ graph, stored, present, remake, repair, signal });
      break;
    }
    default:
      assertNever(contents);
  }
}
