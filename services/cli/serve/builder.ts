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
import { BACKUP_SETTINGS, OPERATOR_SETTINGS, type ServeSettings } from '../settings/settings.ts';

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

type Command = NonNullable<OperatorContext['command']>;

/**
 * Runs commands on the server's data as processes of low priority. `build` runs `varve rebuild`, which makes a generation but does not
 * switch over. With definitions, it converts a copy to them, ahead of the log.
 */
export function createBuilder(settings: ServeSettings, definitions: readonly TypeDefinition[]) {
  const env = { ...process.env, ...operatorVariables(settings) };
  const running = new Map<ChildProcess, Promise<unknown>>();
  let isClosed = false;
  async function* run(
    args: readonly string[],
    signal: AbortSignal,
    sent: readonly TypeDefinition[] = [],
  ): ReturnType<Command> {
    if (isClosed) throw new BuilderClosed();
    const child = fork(process.argv[1] ?? '', [BUILDER_ARGUMENT, COMPATIBILITY, ...args], {
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
      throw new Error(`the process of varve ${args[0]} cannot be started: ${await ended}`);
    const exited = new Promise((resolve) => child.once('exit', resolve));
    running.set(child, exited);
    // Never rejects: the end of a process only resolves.
    void exited.then(() => running.delete(child));
    // If the child has already ended, its exit code is handled below.
    if (sent.length > 0) child.send(sent, () => {});
    const problems = child.stderr === null ? Promise.resolve('') : text(child.stderr).catch(() => '');
    if (child.stdout !== null) yield* createInterface({ input: child.stdout });
    const failure = await ended;
    if (failure === '') return;
    if (isClosed) throw new BuilderClosed();
    throw new Error(
      saidAtEnd(await problems) || `the process of varve ${args[0]} ended unexpectedly: ${failure}`,
    );
  }
  const build: NonNullable<OperatorContext['build']> = async function* (request, signal) {
    const args = ['rebuild', '--json', ...optionsOf(request)];
    for await (const line of run(args, signal, request.copy ? definitions : []))
      yield JSON.parse(line) as Rebuild;
  };
  return {
    build,
    command: (args: readonly string[], signal: AbortSignal) => run(args, signal),
    /** Kills the builder's processes, and resolves when they have ended, so that none outlives the server. */
    async close(): Promise<void> {
      isClosed = true;
      for (const child of running.keys()) child.kill('SIGKILL');
      await Promise.all(running.values());
    },
  };
}

/** Returns the message with which a command ended, without the name of the command. */
function saidAtEnd(stderr: string): string {
  const lines = stderr.trim().split('\n');
  const at = lines.findLastIndex((line) => SAID.test(line));
  return lines.slice(at).join('\n').replace(SAID, '');
}

const SAID = /^varve [a-z ]+: /;

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

const CHILD_SETTINGS = { ...BACKUP_SETTINGS, ...OPERATOR_SETTINGS };

/** Returns variables that name the server's data, log, uploaded files and documents to its commands. */
function operatorVariables(settings: ServeSettings): Readonly<Record<string, string>> {
  const used = { ...settings.data, ...settings.elasticsearch, assets: settings.files.assets };
  const given = Object.entries(CHILD_SETTINGS).map(([name, setting]) => {
    const value = used[name as keyof typeof CHILD_SETTINGS];
    return { [variableOf(setting)]: value === undefined ? undefined : String(value) };
  });
  return defined(Object.assign({}, ...given));
}
