import { type ChildProcess, fork } from 'node:child_process';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import type { Logger } from 'pino';
import type { Rebuild } from '../../../projections/generations/generation.ts';
import { defined } from '../../../shared/defined.ts';
import type { TypeDefinition } from '../../../shared/schema/type-definitions.ts';
import { rebuildOperation } from '../../operator/generations.ts';
import type { BuildRequest, OperatorContext } from '../../operator/operation.ts';
import { BUILDER_ARGUMENT } from '../../supervisor/builder-process.ts';
import { COMPATIBILITY } from '../../supervisor/protocol.ts';
import { variableOf } from '../settings/setting.ts';
import { OPERATOR_SETTINGS, type ServeSettings } from '../settings/settings.ts';

/**
 * Rebuilds as `varve rebuild --graph` does, with the program that is installed now. Logs a failure; an operator can continue with that
 * command. `accept`: accept differences. Resolves to false if this process ends before the rebuild.
 */
export async function startRebuild(
  context: OperatorContext,
  logger: Logger,
  accept = false,
): Promise<boolean> {
  try {
    let last: Rebuild | undefined;
    for await (const line of rebuildOperation.run(context, { graph: true, accept }, NEVER)) last = line;
    if (last?.phase !== 'done') throw new Error(last?.message ?? 'it was interrupted');
    logger.info({}, 'the new read model is built');
  } catch (error) {
    if (error instanceof BuilderClosed) return false;
    const differences = context.generations.store.differences().slice(0, LOGGED_DIFFERENCES);
    const hasStopped = context.generations.store.rebuild()?.phase === 'stopped';
    logger.error(
      { differences, reason: (error as Error).message },
      `the server did not switch to the new read model: ${hasStopped ? SWITCH_ANYWAY : CONTINUE}`,
    );
  }
  return true;
}

const CONTINUE = 'run "varve rebuild --graph" to continue';
const SWITCH_ANYWAY =
  'run "varve rebuild --graph --accept" to switch in spite of the differences, or start with the earlier content types';

const NEVER = new AbortController().signal;
const LOGGED_DIFFERENCES = 50;

/** Error of a rebuild whose process was ended, because this process ends. */
class BuilderClosed extends Error {
  constructor() {
    super('the server is stopping');
  }
}

/**
 * Runs `varve rebuild` as a process of low priority, which makes a generation but does not switch over. With definitions, it converts a
 * copy to them, ahead of the log.
 */
export function createBuilder(settings: ServeSettings, definitions: readonly TypeDefinition[]) {
  const env = { ...process.env, ...operatorVariables(settings) };
  const running = new Map<ChildProcess, Promise<unknown>>();
  let isClosed = false;
  const build: NonNullable<OperatorContext['build']> = async function* (request, signal) {
    if (isClosed) throw new BuilderClosed();
    const args = [BUILDER_ARGUMENT, COMPATIBILITY, 'rebuild', '--json', ...optionsOf(request)];
    const child = fork(process.argv[1] ?? '', args, {
      env,
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      signal,
    });
    const ended = new Promise<string>((resolve) => {
      child.once('error', (error) => resolve(error.message));
      child.once('close', (code, ended) => resolve(code === 0 ? '' : `it exited with ${code ?? ended}`));
    });
    // Such a child has no pipes.
    if (child.pid === undefined)
      throw new Error(`the process that makes the generation cannot be started: ${await ended}`);
    const exited = new Promise((resolve) => child.once('exit', resolve));
    running.set(child, exited);
    // Never rejects: the end of a process only resolves.
    void exited.then(() => running.delete(child));
    // If the child has already ended, its exit code is handled below.
    if (request.copy) child.send(definitions, () => {});
    const problems = child.stderr === null ? Promise.resolve('') : text(child.stderr).catch(() => '');
    if (child.stdout !== null)
      for await (const line of createInterface({ input: child.stdout })) yield JSON.parse(line) as Rebuild;
    const failure = await ended;
    if (failure === '') return;
    if (isClosed) throw new BuilderClosed();
    const said = (await problems)
      .trim()
      .split('\n')
      .at(-1)
      ?.replace(/^varve rebuild: /, '');
    throw new Error(said || `the process that makes the generation ended unexpectedly: ${failure}`);
  };
  return {
    build,
    /** Kills the builder's processes, and resolves when they have ended, so that none outlives the server. */
    async close(): Promise<void> {
      isClosed = true;
      for (const child of running.keys()) child.kill('SIGKILL');
      await Promise.all(running.values());
    },
  };
}

function optionsOf({ graph, copy, type, world, maxRate, accept }: BuildRequest): readonly string[] {
  return [
    ...(graph ? ['--graph'] : []),
    ...(copy ? ['--copy'] : []),
    ...(type === undefined ? [] : ['--type', type]),
    ...(world === undefined ? [] : ['--world', world]),
    ...(maxRate === undefined ? [] : ['--max-rate', maxRate]),
    ...(accept ? ['--accept'] : []),
  ];
}

/** Returns variables that name the server's data, log and documents to the builder. */
function operatorVariables(settings: ServeSettings): Readonly<Record<string, string>> {
  const given = Object.entries(OPERATOR_SETTINGS).map(([name, setting]) => {
    const value = settings[name as keyof typeof OPERATOR_SETTINGS];
    return { [variableOf(setting)]: value === undefined ? undefined : String(value) };
  });
  return defined(Object.assign({}, ...given));
}
