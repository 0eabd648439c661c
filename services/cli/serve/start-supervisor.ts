import type { LogStyle } from '../../supervisor/protocol.ts';
import { supervise } from '../../supervisor/supervise.ts';
import type { WorkerEnd } from '../../supervisor/worker-process.ts';

/** Runs `varve` with these arguments as the worker of this process. */
export function startSupervisor(program: string, args: readonly string[]): void {
  supervise({ program, args, reportCrash });
}

const CRASHED = 'the worker crashed: starting another one';

/** Logs a crash. Prints it if the logger cannot be loaded, for example because an upgrade has replaced the files. */
function reportCrash({ code, signal }: WorkerEnd, style: LogStyle): void {
  import('../output/create-logger.ts')
    .then(({ createLogger }) => createLogger(style))
    .then((logger) => logger.error({ code, signal }, CRASHED))
    .catch((error: Error) => console.error(`${CRASHED} (${signal ?? code}); ${error.message}`));
}
