import type * as z from 'zod';
import { formatsOperation } from './formats.ts';
import {
  canRebuildOperation,
  catchUpOperation,
  dropOperation,
  loadOperation,
  rebuildOperation,
  rollbackOperation,
  takeOverOperation,
} from './generations.ts';
import { importOperation } from './import.ts';
import { importArchiveOperation } from './import-archive.ts';
import type { Operation, OperatorContext } from './operation.ts';
import { parkedOperation } from './parked.ts';
import { statusOperation } from './status.ts';
import { verifyIndexOperation } from './verify-index.ts';

/** Every operation, by the name that requests give it. */
export const OPERATIONS = {
  status: statusOperation,
  parked: parkedOperation,
  import: importOperation,
  'import-archive': importArchiveOperation,
  formats: formatsOperation,
  'can-rebuild': canRebuildOperation,
  level: catchUpOperation,
  load: loadOperation,
  rebuild: rebuildOperation,
  'take-over': takeOverOperation,
  rollback: rollbackOperation,
  drop: dropOperation,
  'verify-index': verifyIndexOperation,
} as const;

export type OperationName = keyof typeof OPERATIONS;
export type RequestOf<Name extends OperationName> = z.input<(typeof OPERATIONS)[Name]['form']>;
export type LineOf<Name extends OperationName> =
  ReturnType<(typeof OPERATIONS)[Name]['run']> extends AsyncIterable<infer Line> ? Line : never;

/** Operations on a data directory: in its server, or in this process, which has the lock until `close`. */
export type Operations = {
  /** Yields the answer line by line. Throws an Error with a message if the operation fails or the server ends. */
  run<Name extends OperationName>(
    name: Name,
    request: RequestOf<Name>,
    signal?: AbortSignal,
  ): AsyncIterable<LineOf<Name>>;
  close(): Promise<void>;
};

/** Runs an operation in this process. Throws a sentence for an unknown name or an invalid request. */
export function runOperation(
  context: OperatorContext,
  name: string,
  request: unknown,
  signal: AbortSignal,
): AsyncIterable<unknown> {
  const operation = Object.hasOwn(OPERATIONS, name)
    ? (OPERATIONS[name as OperationName] as unknown as Operation<z.ZodType, unknown>)
    : undefined;
  if (operation === undefined) {
    throw new Error(`there is no operation ${name}: the server and the command are of different versions`);
  }
  const parsed = operation.form.safeParse(request);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new Error(`${name}: ${issue?.path.map(String).join('.')} ${issue?.message}`);
  }
  const lines = operation.run(context, parsed.data, signal);
  return operation.writes === true && context.workers !== undefined ? untilShown(lines, context) : lines;
}

async function* untilShown(
  lines: AsyncIterable<unknown>,
  { workers, log }: OperatorContext,
): AsyncGenerator<unknown> {
  yield* lines;
  await workers?.shown(await log.lastPosition());
}
