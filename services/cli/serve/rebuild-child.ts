import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import type { Logger } from 'pino';
import { PROJECTOR_VERSION } from '../../../projections/graph/projector-version.ts';
import type { ReadinessCheck } from '../../operating/readiness.ts';
import type { OperatorContext } from '../../operator/operation.ts';
import type { ServeSettings } from '../settings/settings.ts';

/**
 * Where another version of the projector made the read model: it serves, and is made anew beside that. What differs then is what
 * the new version does otherwise.
 */
export function renewReadModel(
  { graph, generations }: Pick<OperatorContext, 'graph' | 'generations'>,
  readiness: ReadinessCheck,
  settings: ServeSettings,
  logger: Logger,
): void {
  if (graph.projectorVersion() === PROJECTOR_VERSION) return;
  const versions = { made: graph.projectorVersion(), wanted: PROJECTOR_VERSION };
  logger.warn(
    versions,
    'the read model is of another projector version: it stays live until a new one is built',
  );
  try {
    generations.refuseTakeOver();
  } catch (error) {
    logger.warn({ reason: (error as Error).message }, 'run varve rebuild --graph --accept to replace it');
    return;
  }
  readiness.note('The read model is of another projector version: it answers until a new one is built');
  void generations.switched().then(() => readiness.note(undefined));
  startRebuild(settings, logger, ['--accept']);
}

/**
 * Has another process make the next generation from the log: `varve rebuild --graph` on this server's data directory, which asks
 * this server to take it over. What it says in vain is logged; the same command, by hand, goes on with it.
 */
export function startRebuild(settings: ServeSettings, logger: Logger, options: readonly string[] = []): void {
  const { data, space, eventStore } = settings;
  const env = {
    ...process.env,
    ...{ VARVE_DATA: data, VARVE_SPACE: space },
    ...(eventStore === undefined ? {} : { VARVE_EVENT_STORE: eventStore }),
    ...readIndexVariables(settings),
  };
  const args = [...process.execArgv, process.argv[1] ?? '', 'rebuild', '--graph', ...options];
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const end = () => child.kill();
  process.once('exit', end);
  const said = Promise.all([text(child.stdout), text(child.stderr)]);
  child.once('close', (code) => {
    process.off('exit', end);
    void said.then(([differences, problems]) => {
      if (code === 0) logger.info({}, 'the new read model is built');
      else
        logger.error(
          { differences: differences.slice(0, 10_000), reason: problems.trim().split('\n').at(-1) },
          'the server did not switch to the new read model: continue with varve rebuild --graph',
        );
    });
  });
}

/** Where the server's documents are, for a command that is told nothing else. */
function readIndexVariables(settings: ServeSettings): Readonly<Record<string, string>> {
  const given = {
    VARVE_READ_INDEX: settings.readIndex,
    VARVE_READ_INDEX_USER: settings.readIndexUser,
    VARVE_READ_INDEX_PASSWORD: settings.readIndexPassword,
    VARVE_READ_INDEX_API_KEY: settings.readIndexApiKey,
    VARVE_READ_INDEX_CA: settings.readIndexCa,
    VARVE_READ_INDEX_CLOUD_ID: settings.readIndexCloudId,
    VARVE_READ_INDEX_SHARDS: settings.readIndexShards,
    VARVE_READ_INDEX_REPLICAS: settings.readIndexReplicas,
    VARVE_DENORMALISE_TO_ONE: settings.denormaliseToOne,
    VARVE_DENORMALISE_TO_MANY: settings.denormaliseToMany,
  };
  return Object.fromEntries(
    Object.entries(given).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]])),
  );
}
