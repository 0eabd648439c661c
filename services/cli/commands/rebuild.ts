import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import {
  describeScope,
  isEnded,
  type Rebuild,
  type RebuildScope,
} from '../../../projections/generations/generation.ts';
import {
  type GenerationStore,
  openGenerationStore,
} from '../../../projections/generations/generation-store.ts';
import { defined } from '../../../shared/defined.ts';
import { upcast } from '../../../shared/events/upcasters.ts';
import type { Uid } from '../../../shared/schema/content-type.ts';
import type { TypeDefinition } from '../../../shared/schema/type-definitions.ts';
import { type OperatorChannel, readDirectoryHolder } from '../../../shared/sqlite/lock-data-directory.ts';
import { callOperator, ServerGone, ServerSilent } from '../../operator/call-operator.ts';
import { operationsOfServer } from '../../operator/open-operations.ts';
import type { BuildRequest } from '../../operator/operation.ts';
import { finalReason } from '../../read-side/outside-generation.ts';
import { interruptRebuild } from '../../rebuild/cancel-rebuild.ts';
import { runRebuild } from '../../rebuild/run-rebuild.ts';
import { createThrottle } from '../../rebuild/throttle.ts';
import { logAddress, openEventStore } from '../../stores/open-event-store.ts';
import { isBuilder, lowerPriority } from '../../supervisor/builder-process.ts';
import { quietLogger } from '../output/create-logger.ts';
import { reportWaits, showRebuild } from '../output/show-rebuild.ts';
import { chooseReadSide } from '../settings/read-side.ts';
import { InvalidSettings, type OperatorSettings } from '../settings/settings.ts';
import { readLiveGraph } from './live-graph-file.ts';
import { observeServer, UNOBSERVED } from './observe-server.ts';
import { awaitOperations, requireDataDirectory } from './operate.ts';
import { differenceText, showDifferences } from './rebuild-differences.ts';
import { refuseWhereOthersLead } from './refuse-where-others-lead.ts';

/** Options of `varve rebuild`, as typed. */
export type RebuildArguments = {
  readonly type?: string;
  readonly world?: string;
  readonly graph?: true;
  readonly copy?: true;
  readonly json?: true;
  readonly maxRate?: string;
  readonly accept?: true;
  readonly pause?: true;
  readonly cancel?: true;
  readonly differences?: true;
};

/** `varve rebuild`: exits with 0 when the new generation serves, and also if the rebuild was paused. */
export async function rebuild(settings: OperatorSettings, given: RebuildArguments): Promise<void> {
  const { data } = settings;
  requireDataDirectory(settings);
  const wanted = parseInterruption(given);
  const maxRate = parseMaxRate(given.maxRate);
  const store = openGenerationStore(data);
  try {
    if (given.differences === true) {
      showDifferences(store, given.json === true);
      return;
    }
    if (wanted !== undefined) {
      report(await interrupt(settings, store, wanted), store, given);
      return;
    }
    const scope = parseScope(given, readLiveGraph(data, (graph) => graph.types()) ?? []);
    const shown = showRebuild(given.json === true);
    const making = { settings, store, scope, maxRate, accept: given.accept === true, tell: shown.tell };
    const ended = await (isBuilder() ? makeHere(making) : makeSomewhere(making, given)).finally(shown.end);
    if (isBuilder()) console.log(JSON.stringify(ended));
    else report(ended, store, given);
  } finally {
    store.close();
  }
}

/** Returns what to do with the current rebuild, if this is all that the options ask for. Throws InvalidSettings for ignored options. */
function parseInterruption({ pause, cancel, differences, json: _json, ...others }: RebuildArguments) {
  if ([pause, cancel, differences].filter((each) => each === true).length > 1)
    throw new InvalidSettings(
      '--pause, --cancel and --differences cannot be used together: pass one of them',
    );
  const wanted = pause === true ? 'pause' : cancel === true ? 'cancel' : undefined;
  const option = differences === true ? 'differences' : wanted;
  if (option !== undefined && Object.keys(others).length > 0)
    throw new InvalidSettings(`--${option} applies to the current rebuild: omit the other options`);
  return wanted;
}

/** Pauses or cancels the rebuild: through the server of the directory, which may ask the leader, or here. */
async function interrupt(
  settings: OperatorSettings,
  store: GenerationStore,
  wanted: 'pause' | 'cancel',
): Promise<Rebuild> {
  const { data } = settings;
  const channel = readDirectoryHolder(data)?.channel;
  try {
    if (channel !== undefined && (await isThere(channel)))
      for await (const line of callOperator(channel, 'interrupt', { wanted })) return line as Rebuild;
  } catch (error) {
    if (!(error instanceof ServerGone) || error instanceof ServerSilent) throw error;
  }
  const plan = await chooseReadSide(settings, await quietLogger());
  return interruptRebuild({ data, store, plan, abandon: async () => {} }, wanted);
}

type Making = {
  readonly settings: OperatorSettings;
  readonly store: GenerationStore;
  readonly scope: RebuildScope;
  readonly maxRate: number | undefined;
  readonly accept: boolean;
  readonly tell: (rebuild: Rebuild) => void;
};

const PAUSE_MS = 100;

/**
 * Lets the server that holds the directory make the generation, and a restarted server continue it. Without a server, makes it here.
 */
async function makeSomewhere(making: Making, given: RebuildArguments): Promise<Rebuild> {
  const { settings, tell } = making;
  const outside = (await chooseReadSide(settings, await quietLogger())).outside !== undefined;
  const { copy, type, world, maxRate } = given;
  const request: BuildRequest = {
    graph: given.graph === true,
    accept: making.accept,
    copy,
    type,
    world,
    maxRate,
  };
  const before = making.store.rebuild();
  for (let tries = 0; ; tries++) {
    const channel = readDirectoryHolder(settings.data)?.channel;
    if (channel === undefined || !(await isThere(channel))) return makeHere(making, tries > 0);
    try {
      for await (const _yes of callOperator(channel, 'can-rebuild', { outside }));
      let last: Rebuild | undefined;
      for await (const line of callOperator(channel, 'rebuild', request)) {
        last = line as Rebuild;
        tell(last);
      }
      if (last !== undefined) return last;
    } catch (error) {
      if (!(error instanceof ServerGone) || error instanceof ServerSilent) throw error;
      refuseFailed(making.store.rebuild(), before);
    }
    await delay(PAUSE_MS);
  }
}

/**
 * Throws the reason if the requested rebuild was cancelled, although its server ended before it said so: another attempt would end the same
 * way. `before`: the last rebuild at the time of the request.
 */
function refuseFailed(now: Rebuild | undefined, before: Rebuild | undefined): void {
  if (now === undefined || (now.id === before?.id && isEnded(before.phase))) return;
  const reason = finalReason(now);
  if (reason !== undefined) throw new Error(reason);
}

/** Makes the generation in this process. `isOver`: the server that was making it has ended, and its builder is about to end. */
async function makeHere(making: Making, isOver = false): Promise<Rebuild> {
  const { settings, store, scope, tell, maxRate, accept } = making;
  const { data, space } = settings;
  lowerPriority();
  const log = await openEventStore(logAddress(settings), { space, decode: upcast });
  const throttle = createThrottle(maxRate);
  // Nobody reads the output of a builder: its server passes on what it reports.
  const logger = await quietLogger(isBuilder() ? reportWaits(() => store.rebuild(), tell) : undefined);
  const plan = await chooseReadSide(settings, logger);
  const stop = new AbortController();
  // The low priority of this process does not reduce the load on the cluster to which it writes.
  const watching = plan.outside === undefined ? UNOBSERVED : observeServer(data, throttle, stop.signal);
  try {
    if (plan.outside !== undefined && !isBuilder()) await refuseWhereOthersLead(log, space);
    await watching.sampled;
    return await runRebuild(
      {
        data,
        log,
        store,
        throttle,
        plan,
        report: logger,
        tell,
        now: Date.now,
        definitions: isBuilder() && scope.copy === true ? await askedDefinitions() : [],
        takesOver: !isBuilder(),
        // A builder may briefly outlive a server that was killed, while the next server starts.
        withOperations: async (use) =>
          isBuilder() ? use(operationsOfServer(data)) : awaitOperations(settings, use),
      },
      { scope, accept, othersEndMs: isOver ? BUILDER_ENDS_MS : 0 },
    );
  } finally {
    stop.abort();
    await watching.done;
    await log.close();
  }
}

const BUILDER_ENDS_MS = 3_000;

/** Returns whether a server listens, even if it is paused. The file of a server that was killed names an address at which none listens. */
async function isThere({ address }: OperatorChannel): Promise<boolean> {
  const { hostname, port } = new URL(address);
  const socket = connect(Number(port), hostname);
  return once(socket, 'connect')
    .then(
      () => true,
      () => false,
    )
    .finally(() => socket.destroy());
}

function parseScope({ type, world, graph, copy }: RebuildArguments, types: readonly Uid[]): RebuildScope {
  if (world !== undefined && world !== 'draft' && world !== 'published')
    throw new Error(`--world must be draft or published, got "${world}"`);
  const uid =
    type === undefined ? undefined : types.find((each) => each === type || each.endsWith(`.${type}`));
  if (type !== undefined && uid === undefined)
    throw new Error(`--type must be one of ${types.join(', ')}, got "${type}"`);
  if (copy === true && (graph === true || uid !== undefined || world !== undefined))
    throw new Error('--copy compares nothing: omit --graph, --type and --world');
  return {
    graph: graph === true,
    ...defined({ copy, type: uid, world }),
  };
}

function parseMaxRate(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (!/^[1-9]\d{0,8}$/.test(text))
    throw new Error(`--max-rate must be an integer, in events per second, got "${text}"`);
  return Number(text);
}

/** Prints the outcome of a rebuild. Throws if it is not the requested one. */
function report(ended: Rebuild, store: GenerationStore, given: RebuildArguments): void {
  const differences = ended.phase === 'stopped' ? store.differences() : [];
  if (given.json === true) console.log(JSON.stringify({ ...ended, differences }));
  else for (const difference of differences) console.log(differenceText(difference));
  const outcome = outcomeText(ended, given);
  if (given.json !== true) console.log(outcome);
}

function outcomeText(
  { phase, wanted, generation, scope, message }: Rebuild,
  given: RebuildArguments,
): string {
  const again = `to continue, run ${describeScope(scope)}`;
  if (phase === 'done') return `generation ${generation} is live; varve rollback switches back`;
  if (phase === 'cancelled') {
    if (given.cancel === true) return 'the rebuild was cancelled';
    throw new Error(message ?? 'the rebuild was cancelled');
  }
  if (wanted === 'pause') return `the rebuild is paused; ${again}`;
  if (wanted === 'cancel') return 'the rebuild is being cancelled';
  if (phase === 'stopped') {
    const choices = '--accept switches to the new generation anyway, --cancel removes it';
    throw new Error(`${message}; the old generation stays live: ${choices}`);
  }
  throw new Error(`the rebuild ended unexpectedly${message === undefined ? '' : `: ${message}`}; ${again}`);
}

/** Resolves to the definitions to which this process converts a copy. The server that started it sends them. */
async function askedDefinitions(): Promise<readonly TypeDefinition[]> {
  process.channel?.ref();
  const [definitions] = await once(process, 'message');
  process.channel?.unref();
  return definitions as readonly TypeDefinition[];
}
