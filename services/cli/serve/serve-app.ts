import type { RequestListener } from 'node:http';
import { resolve } from 'node:path';
import type { Logger } from 'pino';
import { defined } from '../../../shared/defined.ts';
import { packageVersion } from '../../../shared/package-version.ts';
import { createApp } from '../../http/create-app.ts';
import { findSearchPage, type SearchPage } from '../../http/pages/search-page.ts';
import type { Past } from '../../http/past/past.ts';
import type { ProjectRoute } from '../../http/routes/explain-project-routes.ts';
import type { ServedApi } from '../../http/served-api.ts';
import type { Listener } from '../../http/sockets/listen.ts';
import { METRICS } from '../../operating/metric-definitions.ts';
import type { Metrics } from '../../operating/metrics.ts';
import type { Operating } from '../../operating/operating.ts';
import { observeRequests } from '../../operating/request-id.ts';
import type { RunOperation } from '../../operator/http-operations.ts';
import type { Jobs } from '../../operator/jobs.ts';
import type { ShownState } from '../../state/state-resources.ts';
import type { Rotation } from '../../supervisor/rotation.ts';
import type { ProcessRole } from '../settings/roles.ts';
import type { ServeSettings } from '../settings/settings.ts';
import { streamLimits } from '../settings/stream-settings.ts';

export type ServeAppOptions = {
  readonly role: ProcessRole;
  readonly settings: ServeSettings;
  /** Additional path of the API besides `/api`. */
  readonly apiPrefix: string;
  readonly corsOrigins: readonly string[];
  /** Paths that the project's own code answers in Strapi. */
  readonly projectRoutes: readonly ProjectRoute[];
  readonly served: ServedApi;
  readonly listener: Listener;
  readonly logger: Logger;
  readonly operating: Operating;
  /** Pasts of the content. Absent: this process opens none. */
  readonly past?: Past | undefined;
  /** Runs operations of operators, if the process has a data directory. */
  readonly operations?: RunOperation;
  /** Runs operations that other processes of the log ask for. */
  readonly jobs?: Jobs;
  readonly shows: ShownState;
  /** Called when requests are passed on, with their handler. Prints the greeting, or replaces another worker. */
  readonly greet: (handler: RequestListener) => Promise<void>;
  /** This worker's part of the rotation, if there are several workers. */
  readonly rotation?: Rotation | undefined;
  readonly acknowledged?: (() => Promise<void>) | undefined;
  /** Wraps the handler of requests. */
  readonly watched?: (handler: RequestListener) => RequestListener;
};

/** Passes requests to the API from now on. */
export async function serveApp(options: ServeAppOptions): Promise<void> {
  const { role, settings, served, listener } = options;
  const { metrics, tracing } = options.operating;
  gaugeOutput(metrics, listener);
  let isGreeted = false;
  const routing = await createApp({
    ...served,
    answersReads: role !== 'project',
    apiPrefix: options.apiPrefix,
    projectRoutes: options.projectRoutes,
    shows: options.shows,
    ...defined({
      operations: options.operations,
      jobs: options.jobs,
      searchPage: searchPageOf(settings),
      acknowledged: options.acknowledged,
      past: options.past,
    }),
    logger: options.logger,
    bodyLimit: settings.network.bodyLimit,
    uploadLimit: settings.files.uploadLimit,
    streams: streamLimits(settings.network),
    streamCounts: options.rotation?.streams,
    leaving: listener.leaving,
    protection: {
      corsOrigins: options.corsOrigins,
      rateLimit: settings.network.rateLimit,
      isLimiting: () => isGreeted,
      isCounted: (request) => served.forwarding.commands.classify(request).kind === 'forwarded',
      count: options.rotation?.count,
    },
    trustProxy: settings.network.trustProxy ?? false,
    docs: { version: packageVersion(), usersEnvelope: settings.strapi.usersEnvelope },
    meters: { durations: metrics?.durations(METRICS.httpRequests), tracing },
  });
  const handler = observeRequests(routing, tracing);
  listener.serve(options.watched?.(handler) ?? handler);
  await options.greet(handler);
  isGreeted = true;
}

function gaugeOutput(metrics: Metrics | undefined, { output }: Listener): void {
  metrics?.gauge(METRICS.unsentBytes, output.unsentBytes);
  metrics?.gauge(METRICS.waitingRequests, output.waitingRequests);
}

/** Returns the search page of the example content types; undefined if the examples are not served. */
export function searchPageOf({ content: { examples, contentTypes } }: ServeSettings): SearchPage | undefined {
  return examples ? findSearchPage(resolve(contentTypes, 'search')) : undefined;
}
