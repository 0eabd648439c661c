import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import type { Logger } from 'pino';
import type { ServeSettings } from './settings.ts';

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
  };
  const args = [...process.execArgv, process.argv[1] ?? '', 'rebuild', '--graph', ...options];
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const end = () => child.kill();
  process.once('exit', end);
  const said = Promise.all([text(child.stdout), text(child.stderr)]);
  child.once('close', (code) => {
    process.off('exit', end);
    void said.then(([differences, problems]) => {
      if (code === 0) logger.info({}, 'the new read model is made');
      else
        logger.error(
          { differences: differences.slice(0, 10_000), reason: problems.trim().split('\n').at(-1) },
          'the new read model is not taken over: varve rebuild --graph goes on with it',
        );
    });
  });
}
