import type { Listener } from '../../http/sockets/listen.ts';
import { readStatus } from '../../operator/status.ts';
import type { InterimDuties } from '../../process/process-options.ts';
import { startRebuild } from './builder.ts';
import { type LeadingParts, reportServing, watchRequests } from './leading-parts.ts';
import { serveApp } from './serve-app.ts';

/** Serves the earlier generation on a listener while the content types of its Elasticsearch index are replaced. */
export function serveEarlierTypes(parts: LeadingParts, listener: Listener): InterimDuties {
  const { settings, role, logger, paths, supervisor, operators, ports, stop, shared } = parts;
  return {
    async serve(served, operator, changes, leave) {
      logger.warn(
        { changes },
        'the content types have changed: reads are answered as before until a new read model is built',
      );
      operators.serve(operator);
      ports.admit(served.access);
      stop.with(listener, { close: () => leave() });
      supervisor.onYield((next) => {
        shared.presence.leave();
        return leave(next);
      });
      await serveApp({
        role,
        settings,
        ...paths,
        served,
        listener,
        logger,
        // The API that replaces this one registers the metrics.
        operating: { ...ports.operating, metrics: undefined },
        state: () => readStatus(operator),
        watched: (handler) => watchRequests(parts, handler),
        greet: async () => reportServing(parts),
      });
    },
    end: () => listener.drain(settings.drainSeconds * 1_000),
    // Never rejects: a failed rebuild is logged.
    rebuild: (operator, accept) => void startRebuild(operator, logger, accept),
  };
}
