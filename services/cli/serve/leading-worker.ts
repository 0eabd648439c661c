import { graphFile } from '../../../projections/graph/store/generation-files.ts';
import { type ListenOptions, listen } from '../../http/sockets/listen.ts';
import type { Varve } from '../../process/open-varve.ts';
import { isFirstWorker, type Supervisor } from '../../supervisor/connect-supervisor.ts';
import type { Followers } from '../../supervisor/protocol.ts';
import type { ServeSettings } from '../settings/settings.ts';
import { outputLimits } from '../settings/worker-settings.ts';

/** Milliseconds for the last requests of other workers. */
const LAST_REQUESTS_MS = 1_000;

/** Opens the additional parts of the worker that is the leader, if it has reading workers. Returns undefined with one worker. */
export async function openLeadingWorker(
  { network: { workers }, data: { data } }: ServeSettings,
  supervisor: Supervisor,
  first: NonNullable<ListenOptions['first']>,
) {
  if (workers === 1) return undefined;
  const { rotation } = supervisor;
  const isFirst = isFirstWorker(supervisor);
  const limits = outputLimits(workers);
  const inner = await listen({ host: '127.0.0.1', port: 0, first, limits });
  const alive = rotation.live(() => 0n);
  return {
    /** Address where the other workers reach this one. A connection to the server's address may reach any worker. */
    address: inner.url,
    socket: rotation.sharedSocket,
    limits,
    /** Called when the server's address is known. On a first start requests are answered that the server is starting. */
    async start(): Promise<void> {
      if (isFirst) await rotation.accept();
    },
    /** Begins to answer requests of the other workers. */
    serve: inner.serve,
    /** Returns the workers that may be started now; undefined if this worker's content types are about to change. */
    followers({ deferred, operator }: Pick<Varve, 'deferred' | 'operator'>): Followers | undefined {
      if (deferred.length > 0) return undefined;
      return { count: workers - 1, graph: graphFile(data, operator.generations.store.live().number) };
    },
    shared: ({ operator: { log } }: Pick<Varve, 'operator'>) => ({
      rotation,
      acknowledged: async () => rotation.shown(await log.lastPosition()),
    }),
    async close(): Promise<void> {
      alive.stop();
      await inner.drain(LAST_REQUESTS_MS);
    },
  };
}
