import type * as z from 'zod';
import {
  backupOperation,
  exportOperation,
  importFileOperation,
  makeFormatsOperation,
  verifyOperation,
} from './commands.ts';
import { eraseOperation } from './erase.ts';
import { formatsOperation } from './formats.ts';
import {
  canRebuildOperation,
  catchUpOperation,
  differencesOperation,
  dropOperation,
  interruptOperation,
  loadOperation,
  rebuildOperation,
  rollbackOperation,
  takeOverOperation,
} from './generations.ts';
import { importOperation } from './import.ts';
import { importArchiveOperation } from './import-archive.ts';
import type { LookContext, Operation, OperatorContext } from './operation.ts';
import { listParkedOperation, parkedOperation } from './parked.ts';
import { releaseOperation } from './releases.ts';
import { runOnLeader } from './run-on-leader.ts';
import { settingsOperation } from './settings.ts';
import { statusOperation } from './status.ts';
import { repairIndexOperation, verifyIndexOperation } from './verify-index.ts';

/** Operations that change nothing, by the name that requests give them. */
const LOOKS = {
  status: statusOperation,
  'list-parked': listParkedOperation,
  'rebuild-differences': differencesOperation,
  'verify-index': verifyIndexOperation,
} as const;

/** Every operation, by the name that requests give it. */
export const OPERATIONS = {
  ...LOOKS,
  parked: parkedOperation,
  import: importOperation,
  'import-archive': importArchiveOperation,
  formats: formatsOperation,
  release: releaseOperation,
  settings: settingsOperation,
  'can-rebuild': canRebuildOperation,
  level: catchUpOperation,
  load: loadOperation,
  rebuild: rebuildOperation,
  'take-over': takeOverOperation,
  rollback: rollbackOperation,
  drop: dropOperation,
  interrupt: interruptOperation,
  'repair-index': repairIndexOperation,
  verify: verifyOperation,
  backup: backupOperation,
  export: exportOperation,
  'import-file': importFileOperation,
  'make-formats': makeFormatsOperation,
  erase: eraseOperation,
} as const;

export type OperationName = keyof typeof OPERATIONS;
export type RequestOf<Name extends OperationName> = z.input<(typeof OPERATIONS)[Name]['form']>;
export type LineOf<Name extends OperationName> =
  ReturnType<(typeof OPERATIONS)[Name]['run']> extends AsyncIterable<infer Line> ? Line : never;

export type LookName = keyof typeof LOOKS;

/** Operations that change nothing: in the server of a data directory, or in this process, which opens the files for reading. */
export type Looks = {
  run<Name extends LookName>(
    name: Name,
    request: RequestOf<Name>,
    signal?: AbortSignal,
  ): AsyncIterable<LineOf<Name>>;
  close(): Promise<void>;
};

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

/**
 * Runs an operation in this process, or asks the leader to run it if only the leader can. Throws a sentence for an unknown name or an
 * invalid request.
 */
export function runOperation(
  context: OperatorContext,
  name: string,
  request: unknown,
  signal: AbortSignal,
): AsyncIterable<unknown> {
  const { operation, form } = parseOperation(name, request);
  const { leader } = context;
  const here = () => operation.run(context, form, signal);
  const lines =
    operation.ofLeader === undefined || leader === undefined
      ? here()
      : runOnLeader({ leader, name, form, here, isOnce: operation.ofLeader === 'once' }, signal);
  return operation.writes === true && context.workers !== undefined ? untilShown(lines, context) : lines;
}

/** Returns an operation and its request. Throws a sentence for an unknown name or an invalid request. */
export function parseOperation(
  name: string,
  request: unknown,
): { readonly operation: Operation<z.ZodType, unknown>; readonly form: unknown } {
  const operation = Object.hasOwn(OPERATIONS, name)
    ? (OPERATIONS[name as OperationName] as unknown as Operation<z.ZodType, unknown>)
    : undefined;
  if (operation === undefined) {
    throw new Error(`there is no operation ${name}: the server and the command are of different versions`);
  }
  return { operation, form: parseRequest(operation.form, name, request) };
}

/** Runs an operation that changes nothing in this process. Throws a sentence for an invalid request. */
export function runLook(
  context: LookContext,
  name: LookName,
  request: unknown,
  signal: AbortSignal,
): AsyncIterable<unknown> {
  const look = LOOKS[name] as unknown as Operation<z.ZodType, unknown, LookContext>;
  return look.run(context, parseRequest(look.form, name, request), signal);
}

function parseRequest(form: z.ZodType, name: string, request: unknown): unknown {
  const parsed = form.safeParse(request);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new Error(`${name}: ${issue?.path.map(String).join('.')} ${issue?.message}`);
}

async function* untilShown(
  lines: AsyncIterable<unknown>,
  { workers, log }: OperatorContext,
): AsyncGenerator<unknown> {
  yield* lines;
  await workers?.shown(await log.lastPosition());
}
