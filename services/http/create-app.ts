import type { RequestListener } from 'node:http';
import fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
} from 'fastify';
import { countOwnStreams, type StreamCounts } from '../../shared/count-streams.ts';
import { defined } from '../../shared/defined.ts';
import { describeResources } from '../../shared/resource.ts';
import { ACCESS_RESOURCES } from '../access/access-resources.ts';
import { registerConsole } from '../console/register-console.ts';
import { ERASURE_RESOURCES } from '../erasure/erasure-resources.ts';
import { describeOperations } from '../operator/http-operations.ts';
import type { Jobs } from '../operator/jobs.ts';
import { RELEASE_RESOURCES } from '../releases/release-resources.ts';
import { SEARCH_LOG_RESOURCES } from '../searches/search-log-resources.ts';
import { SETTINGS_RESOURCES } from '../state/settings-in-force.ts';
import { type ShownState, STATE_RESOURCES } from '../state/state-resources.ts';
import { RULE_RESOURCES } from '../synonyms/rule-resources.ts';
import { SYNONYM_RESOURCES } from '../synonyms/synonym-resources.ts';
import { WEBHOOK_RESOURCES } from '../webhooks/webhook-resources.ts';
import { INSTANT_SEARCH_PREFIX, isInstantSearchTarget } from './answers/algolia-error.ts';
import { attributeFailures } from './answers/contain-failures.ts';
import { presentError } from './answers/error-envelope.ts';
import { fastifyOptions } from './fastify-options.ts';
import { forwardWrites } from './forwarding/forward-writes.ts';
import { acceptOperations } from './forwarding/leader-operations.ts';
import { acceptPastReads } from './forwarding/leader-past.ts';
import { countTickets } from './forwarding/leader-tickets.ts';
import { type DocsOptions, registerDocsPage, registerOpenApi } from './pages/docs-page.ts';
import { registerSearchPage, type SearchPage } from './pages/search-page.ts';
import { answerPasts } from './past/answer-past.ts';
import type { Past } from './past/past.ts';
import { registerTimeGate } from './past/time-gate.ts';
import { refuseUnrouted, sendError } from './refuse-unrouted.ts';
import { rememberedFirst } from './remembered-first.ts';
import { acceptBodies } from './requests/accept-bodies.ts';
import { acknowledgeWrites } from './requests/acknowledge-writes.ts';
import { awaitPositions } from './requests/await-position.ts';
import { guardDevelopment } from './requests/guard-development.ts';
import { measureRequests, type RequestMeters } from './requests/measure-requests.ts';
import { HEALTH_PATH, type ProtectionOptions, protect } from './requests/protect.ts';
import { refusedRead, refuseReads } from './requests/refuse-reads.ts';
import { nameAuthors } from './requests/request-author.ts';
import { firstSegment, rewritePrefix } from './requests/rewrite-prefix.ts';
import { refuseLogin, registerLogin } from './routes/auth-routes.ts';
import {
  authenticateRequests,
  createAuthenticate,
  hideSettings,
  requireAdministrator,
} from './routes/authenticate.ts';
import { registerChanges } from './routes/changes-routes.ts';
import { registerContentTypes } from './routes/content-type-routes.ts';
import { registerLocales, registerUsers } from './routes/entry-routes.ts';
import { explainProjectRoutes, type ProjectRoute } from './routes/explain-project-routes.ts';
import { registerWebhook, sendWritesToStrapi } from './routes/follow-strapi.ts';
import {
  adaptAlgoliaRequests,
  admitLocalPages,
  registerInstantSearch,
  sendAlgoliaError,
} from './routes/instant-search-routes.ts';
import { createLiveLists } from './routes/live-lists.ts';
import { currentRights, type StreamContext } from './routes/open-stream.ts';
import { type OperationRoutes, registerOperations } from './routes/operation-routes.ts';
import { refuseUnknownNames } from './routes/refuse-unknown-names.ts';
import { registerResources } from './routes/resource-routes.ts';
import { registerAssets } from './routes/serve-assets.ts';
import { registerTypes } from './routes/type-routes.ts';
import { registerUploads } from './routes/upload-routes.ts';
import type { ServedApi } from './served-api.ts';
import { createEventStreams, type StreamLimits } from './streams/event-streams.ts';
import { createTickets } from './streams/tickets.ts';

export type AppOptions = ServedApi &
  OperationRoutes & {
    /** Runs operations that other processes of the log ask the leader for. Absent: this process cannot lead. */
    readonly jobs?: Jobs;
    /** State of the process and of its log. */
    readonly shows: ShownState;
    readonly logger: FastifyBaseLogger;
    /** Bytes of a request body; more is a 413. */
    readonly bodyLimit: number;
    readonly protection: ProtectionOptions;
    /** Trusted proxies for X-Forwarded-For: addresses, or none. */
    readonly trustProxy: string | false;
    readonly docs: Omit<DocsOptions, 'apiFor' | 'login'>;
    /** Served in development mode. */
    readonly searchPage?: SearchPage;
    readonly meters: RequestMeters;
    /** Pasts of the content. Absent: this process has none. */
    readonly past?: Past;
    /** False: other processes answer reads. */
    readonly answersReads: boolean;
    /** Additional path of the API besides `/api`, without a slash at its end. */
    readonly apiPrefix: string;
    /** Paths that a project's own code answers in Strapi. */
    readonly projectRoutes: readonly ProjectRoute[];
    /** Bytes of one uploaded file. */
    readonly uploadLimit: number;
    /** Limits of server-sent events. */
    readonly streams: StreamLimits;
    /** Counts of the open streams of all processes of the server. Absent: this process counts its own. */
    readonly streamCounts?: StreamCounts | undefined;
    /** Resolves when every process that answers reads shows the log to its end. Absent: this process alone answers. */
    readonly acknowledged?: () => Promise<void>;
    /** Calls back when this process accepts no more connections. */
    readonly leaving: (left: () => void) => void;
  };

/** Creates the HTTP API: routes of content types, users, files, access and `/_health`. It does not listen: pass it the requests. */
export async function createApp(options: AppOptions): Promise<RequestListener> {
  const app = createFastify(options);
  acceptBodies(app);
  refuseUnknownNames(app);
  const measures = measureRequests(app, options.meters);
  refuseUnrouted(app, measures.unrouted);
  await protect(app, options.protection);
  if (!options.answersReads) refuseReads(app);
  const { follow, freshness } = options;
  if (follow !== undefined) {
    const maxBytes = Math.max(options.bodyLimit, options.uploadLimit);
    sendWritesToStrapi(app, { follow, freshness, maxBytes });
    registerWebhook(app, follow);
  }
  app.get(HEALTH_PATH, (_request, reply) => reply.code(204).send());
  app.decorateRequest('rights');
  app.decorateRequest('signedIn');
  app.decorateRequest('sentJson');
  app.decorateRequest('command');
  app.decorateRequest('isElsewhere', false);
  app.decorateRequest('receivedWhole');
  explainProjectRoutes(app, options.projectRoutes);
  app.register(async (scope) => registerGuarded(scope, options));
  app.register(async (scope) => registerSettings(scope, options));
  app.register(async (scope) => registerAlgolia(scope, options, measures.unrouted), {
    prefix: INSTANT_SEARCH_PREFIX,
  });
  app.register(async (scope) => {
    guardDevelopment(scope, options.access, options.protection.corsOrigins);
    registerAssets(scope, options.assets);
    registerDocsPage(scope);
    const { access, searchPage } = options;
    registerConsole(scope, { access, hasSearch: searchPage !== undefined });
    if (searchPage !== undefined) registerSearchPage(scope, searchPage, access);
  });
  await app.ready();
  const routing = attributeFailures((request, response) => app.routing(request, response));
  return rememberedFirst(routing, options, measures);
}

/** Creates the server, with its limits and the answers to requests that reach no route. */
function createFastify(options: AppOptions): FastifyInstance {
  const own = new Set<string>();
  const app = fastify({
    ...fastifyOptions(options.logger),
    bodyLimit: options.bodyLimit,
    trustProxy: options.trustProxy,
    ...defined({ rewriteUrl: rewritePrefix(options.apiPrefix, own) }),
    // A request whose path is not text reaches no route.
    frameworkErrors: (error, request, reply) =>
      isInstantSearchTarget(request.raw.url)
        ? sendAlgoliaError(reply, presentError(error))
        : sendError(reply, presentError(error)),
  }) as unknown as FastifyInstance;
  return app.addHook('onRoute', ({ url }) => void own.add(firstSegment(url)));
}

/** Registers everything whose answer depends on the caller. */
function registerGuarded(app: FastifyInstance, options: AppOptions): void {
  const { registry, access, apiFor } = options;
  if (options.acknowledged !== undefined) acknowledgeWrites(app, options.acknowledged);
  guardDevelopment(app, access, options.protection.corsOrigins);
  const authentication = { access, login: options.login, freshness: options.freshness };
  const authenticate = createAuthenticate(authentication);
  authenticateRequests(app, authenticate, authentication);
  awaitPositions(app, options.freshness, authenticate);
  const askLeader = forwardWrites(app, options.forwarding, registry);
  nameAuthors(app, access, options.meters.tracing);
  registerPasts(app, options);
  const writesOf = (request: FastifyRequest) => {
    const api = apiFor(request.rights);
    return request.isElsewhere ? api.checkOnly : api;
  };
  const rightsOf = currentRights(authenticate);
  const { streams: limits, streamCounts: counts = countOwnStreams() } = options;
  const streams = createEventStreams({ limits, counts, rightsOf, watchRights: access.watch });
  options.leaving(streams.leave);
  const own = createTickets(options.ticketKey);
  if (options.jobs !== undefined) acceptOperations(app, { ...options.forwarding, jobs: options.jobs });
  const tickets = countTickets(app, { ...options.forwarding, own, askLeader });
  const failed = (error: unknown) => app.log.error({ err: error });
  const streaming = { ...options, streams, tickets, authenticate, failed };
  const context = {
    app,
    live: createLiveLists(streaming),
    apiOf: (request: FastifyRequest) => writesOf(request).content,
    deliveryOf: (request: FastifyRequest) => apiFor(request.rights).delivery,
    registry,
  };
  registerContentTypes(context, options);
  registerUsers({ ...context, login: options.login });
  const { login } = options;
  if (login?.login !== undefined) app.register((scope) => registerLogin(scope, login, options.protection));
  else if (options.follow === undefined) refuseLogin(app);
  registerLocales(context);
  registerChanges(app, streaming);
  registerUploads(app, (request) => writesOf(request).uploads, context.deliveryOf);
  registerTypes(app, (request) => apiFor(request.rights));
  registerDescription(app, options);
  app.register(async (scope) => registerForAdministrators(scope, options, streaming));
}

/** Registers the settings in a scope of their own: no hook may answer callers without the right before `hideSettings`. */
function registerSettings(
  scope: FastifyInstance,
  { shows, access, login, freshness, protection }: AppOptions,
) {
  const { settings } = shows;
  if (settings === undefined) return;
  guardDevelopment(scope, access, protection.corsOrigins);
  const authentication = { access, login, freshness };
  authenticateRequests(scope, createAuthenticate(authentication), authentication);
  hideSettings(scope);
  registerResources(scope, SETTINGS_RESOURCES, { settings }, undefined);
}

function registerPasts(app: FastifyInstance, { past, apiPrefix, forwarding }: AppOptions): void {
  answerPasts(app, past);
  registerTimeGate(app, past, apiPrefix);
  acceptPastReads(app, { ...forwarding, past });
}

function registerDescription(app: FastifyInstance, options: AppOptions): void {
  const { docs, apiFor, login, releases, webhooks, erasures, operations } = options;
  registerOpenApi(app, {
    ...docs,
    apiFor,
    login: login?.management,
    operations: () => ({
      operations: operations === undefined ? [] : describeOperations(),
      resources: [
        ...describeResources('State', STATE_RESOURCES),
        ...describeResources('State', SETTINGS_RESOURCES),
        ...describeResources('Access', ACCESS_RESOURCES),
        ...describeResources('Search', SYNONYM_RESOURCES),
        ...describeResources('Search', RULE_RESOURCES),
        ...describeResources('Search', SEARCH_LOG_RESOURCES),
        ...(releases === undefined ? [] : describeResources('Releases', RELEASE_RESOURCES)),
        ...(webhooks === undefined ? [] : describeResources('Webhooks', WEBHOOK_RESOURCES)),
        ...(erasures === undefined ? [] : describeResources('Erasures', ERASURE_RESOURCES)),
      ],
    }),
  });
}

/** Routes that only callers with full access may use. */
function registerForAdministrators(scope: FastifyInstance, options: AppOptions, streaming: StreamContext) {
  const { registry, releases, webhooks, erasures } = options;
  const { synonyms, counts } = options.search;
  requireAdministrator(scope);
  refuseWritesIn(scope, options.forwarding.refuseWrites);
  registerResources(scope, STATE_RESOURCES, { ...options, streams: streaming.streams }, streaming);
  registerResources(scope, ACCESS_RESOURCES, options, streaming);
  registerOperations(scope, options, streaming);
  registerResources(scope, SYNONYM_RESOURCES, { ...synonyms, registry }, streaming);
  registerResources(scope, RULE_RESOURCES, { ...synonyms, registry }, streaming);
  registerResources(scope, SEARCH_LOG_RESOURCES, { searches: counts }, streaming);
  if (releases !== undefined) registerResources(scope, RELEASE_RESOURCES, releases, streaming);
  if (webhooks !== undefined)
    registerResources(scope, WEBHOOK_RESOURCES, { ...webhooks, registry }, streaming);
  if (erasures !== undefined) registerResources(scope, ERASURE_RESOURCES, erasures, streaming);
}

/** Registers Algolia's protocol: its reads are POST requests, which any process that answers reads answers. */
function registerAlgolia(
  scope: FastifyInstance,
  { access, login, freshness, protection, apiFor, answersReads }: AppOptions,
  measureUnrouted: (reply: FastifyReply) => void,
): void {
  adaptAlgoliaRequests(scope, measureUnrouted);
  if (!answersReads) scope.addHook('onRequest', (_request, _reply, done) => done(refusedRead()));
  guardDevelopment(scope, access, protection.corsOrigins);
  admitLocalPages(scope, access);
  const authentication = { access, login, freshness };
  authenticateRequests(scope, createAuthenticate(authentication), authentication);
  registerInstantSearch(scope, ({ rights }) => apiFor(rights).instant);
}

/** Refuses writes of this scope while the process accepts none. They need no leader. */
function refuseWritesIn(scope: FastifyInstance, refuse: (() => void) | undefined): void {
  scope.addHook('preHandler', async ({ method }) => {
    if (method !== 'GET' && method !== 'HEAD') refuse?.();
  });
}
