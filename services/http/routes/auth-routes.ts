import type { FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods } from 'fastify';
import { RequestError } from '../../../shared/request-error.ts';
import { NotLeading } from '../../command/not-leading.ts';
import type { LoginRequest } from '../../login/login.ts';
import type { LoginApi } from '../../login/login-api.ts';
import type { LoginAnswer } from '../../login/login-options.ts';
import { parseQueryString } from '../../query/query-string.ts';
import { JSON_HEADERS, SECURITY_HEADERS } from '../answers/responses.ts';
import { forbidden } from '../api/guard-content-api.ts';
import { POSITION_HEADER } from '../requests/await-position.ts';
import { limitRequests, networkOf } from '../requests/limit-requests.ts';
import type { ProtectionOptions } from '../requests/protect.ts';
import { CONFIRMATION_PATH } from '../requests/writing-methods.ts';
import { queryOf, register } from './entry-routes.ts';

/** The requests of Strapi's login that are POSTs, by their paths below `/api/auth`. */
const POSTS: Readonly<Record<string, LoginRequest>> = {
  local: 'auth.callback',
  'local/register': 'auth.register',
  'forgot-password': 'auth.forgotPassword',
  'reset-password': 'auth.resetPassword',
  'change-password': 'auth.changePassword',
  'send-email-confirmation': 'auth.sendEmailConfirmation',
  refresh: 'auth.refresh',
  logout: 'auth.logout',
};

type LoginProtection = Pick<ProtectionOptions, 'isCounted' | 'count'>;

/** Registers `/api/auth/*` as in Strapi's users-permissions plugin. */
export async function registerLogin(
  app: FastifyInstance,
  api: LoginApi,
  protection: LoginProtection,
): Promise<void> {
  const { login } = api;
  if (login === undefined) return;
  const limit = {
    count: protection.count,
    hook: 'preHandler',
    allowList: (request: FastifyRequest) =>
      request.method === 'GET' || request.method === 'HEAD' || protection.isCounted(request),
  } as const;
  await limitRequests(app, { ...limit, max: api.rateLimit, name: 'login', keyGenerator: limitKey });
  const max = api.rateLimit * ADDRESSES_OF_CALLER;
  await limitRequests(app, { ...limit, max, name: 'login of a caller', keyGenerator: callerKey });
  const carryOut = async (request: FastifyRequest, reply: FastifyReply, action: LoginRequest) => {
    if (!api.actionsOf(request.signedIn, request.rights).has(action)) throw forbidden();
    if (request.isElsewhere) throw new NotLeading();
    const form = request.method === 'GET' ? parseQueryString(queryOf(request)) : request.body;
    send(reply, await login(action, form, request.signedIn));
  };
  for (const [path, action] of Object.entries(POSTS)) {
    register(app, `/api/auth/${path}`, {
      POST: (request, reply) => carryOut(request, reply, action),
      // Strapi answers a GET of an unknown path with 404.
      GET: notFound,
    });
  }
  register(app, CONFIRMATION_PATH, {
    GET: async (request, reply) => {
      // Programs that check links in mails often send HEAD requests. These confirm nothing.
      if (request.method === 'HEAD') reply.code(204).headers(SECURITY_HEADERS).send();
      else await carryOut(request, reply, 'auth.emailConfirmation');
    },
  });
  for (const path of ['/api/connect/*', '/api/auth/:provider/callback'])
    register(app, path, { GET: noProvider });
}

/** Answers the paths of the login with the option that turns it on. */
export function refuseLogin(app: FastifyInstance): void {
  const refuse = async (): Promise<never> => {
    throw new RequestError(
      'login-not-served',
      'Nobody can sign in here: users sign in at `varve serve` with the option --login',
    );
  };
  const method = app.supportedMethods as HTTPMethods[];
  for (const url of ['/api/auth/*', '/api/connect/*'])
    app.route({ method, url, onRequest: refuse, handler: refuse });
}

async function notFound(): Promise<never> {
  throw new RequestError('not-found', 'Not Found');
}

async function noProvider(): Promise<never> {
  throw new RequestError(
    'provider-not-served',
    'Varve does not sign in at other providers: let the front end do that, and pass the address of the keys of the provider with --jwks, so that its tokens are accepted',
  );
}

/** Paths whose limit ignores `email`, because a caller could evade the limit with any address. */
const BY_CALLER_ALONE = /^\/api\/auth\/(local|reset-password|change-password|refresh|logout)$/;

/** Returns the key by which Strapi counts: the path, the network address of the caller, and the e-mail address in the body. */
function limitKey({ ip, routeOptions, body }: FastifyRequest): string {
  const url = String(routeOptions.url);
  const email = (body as { readonly email?: unknown } | undefined)?.email;
  const address =
    BY_CALLER_ALONE.test(url) || typeof email !== 'string' ? '' : email.toLowerCase().slice(0, 200);
  return JSON.stringify([url, networkOf(ip), address]);
}

/** E-mail addresses for each of which a caller may use all attempts of a minute. Without this limit a caller would evade the other one. */
const ADDRESSES_OF_CALLER = 10;

function callerKey({ ip, routeOptions }: FastifyRequest): string {
  return JSON.stringify([routeOptions.url, networkOf(ip)]);
}

function send(reply: FastifyReply, { status, body, location, position }: LoginAnswer): void {
  if (position !== undefined) reply.header(POSITION_HEADER, String(position));
  reply.code(status).header('cache-control', 'no-store');
  if (location === undefined) reply.headers(JSON_HEADERS).send(JSON.stringify(body));
  else
    reply
      .headers(SECURITY_HEADERS)
      .header('location', inAscii(location))
      .type('text/plain; charset=utf-8')
      .send(body);
}

/** Returns a URL in ASCII, because headers have no other characters. */
function inAscii(url: string): string {
  return url.toWellFormed().replace(/[^\x21-\x7e]/gu, encodeURIComponent);
}
