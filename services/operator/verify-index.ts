import { z } from 'zod';
import type { VerificationLine } from '../../projections/verification/difference.ts';
import { verifyDocuments } from '../../projections/verification/verify-documents.ts';
import { verifyRows } from '../../projections/verification/verify-rows.ts';
import { assertNever } from '../../shared/assert-never.ts';
import { defineLook, defineOperation, type LookContext } from './operation.ts';

/** Compares the read index with the graph while both continue to change. */
export const verifyIndexOperation = defineLook({
  form: z.strictObject({}),
  http: { summary: 'Compare the read index with the content graph', answer: 'all' },
  run: (context, _request, signal) => verifyIndex(context, false, signal),
});

/** Compares like `verifyIndexOperation`, and writes differences again. */
export const repairIndexOperation = defineOperation({
  form: z.strictObject({}),
  http: {
    summary: 'Compare the read index with the content graph, and rewrite wrong entries',
    answer: 'all',
  },
  run: (context, _request, signal) => verifyIndex(context, true, signal),
});

/** Pause between slices, so that requests run first. */
const PAUSE_MS = 5;

async function* verifyIndex(
  { graph, readSide, server }: LookContext,
  repair: boolean,
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
      const waits = server !== undefined || repair;
      const faults = await contents.faults();
      for (const { type, reason } of faults) yield { kind: 'fault', type, reason };
      const except = faults.map(({ type }) => type);
      yield* verifyDocuments({ graph, stored, present, remake, except, repair, waits, signal });
      break;
    }
    default:
      assertNever(contents);
  }
}
