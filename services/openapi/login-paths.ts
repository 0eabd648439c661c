import type { ContentType } from '../../shared/schema/content-type.ts';
import { jsonBody, modelRef, objectSchema, queryParameter, TEXT_SCHEMA } from './document-parts.ts';
import type { PathScope } from './entry-paths.ts';
import type { ApiOperation, JsonSchema, Paths } from './openapi-types.ts';
import { usersListParameters } from './query-parameters.ts';
import { jsonResponse, readRefusals, writeRefusals } from './responses.ts';
import { sampleAnswer } from './sample-values.ts';

/** Mode of the login: one long-lived JWT, or short-lived ones that are refreshed. */
export type DescribedLogin = 'legacy-support' | 'refresh';

const TAGS = ['Login'];
const JWT = 'eyJhbGciOiJIUzI1NiJ9.eyJpZCI6MX0.c2lnbmF0dXJl';
const EMAIL = { email: 'grace@example.com' };
const CODE = `1-${'0'.repeat(64)}`;
const SECRET = 'a long secret';
const OK = jsonResponse('Done.', objectSchema({ ok: { const: true } }), { ok: true });
const SENT = jsonResponse(
  'Sent, if there is such a user.',
  objectSchema({ email: TEXT_SCHEMA, sent: { const: true } }),
  { ...EMAIL, sent: true },
);
const NO_MAIL = { description: 'The server sends no mails.' };
const NEW_PASSWORD = { password: SECRET, passwordConfirmation: SECRET };

/** Routes of Strapi's login (SEMANTICS section 11). */
export function loginPaths(scope: PathScope, users: ContentType, mode: DescribedLogin): Paths {
  const user = { ...sampleAnswer(users), username: 'grace', ...EMAIL };
  const signedIn = signedInAnswer(modelRef(scope, users.uid), user, mode);
  return {
    '/api/auth/local': {
      post: post('signIn', 'Sign in', { identifier: 'grace', password: SECRET }, { 200: signedIn }),
    },
    '/api/auth/local/register': { post: registration(signedIn) },
    ...passwordPaths(signedIn),
    '/api/auth/email-confirmation': { get: confirmation() },
    '/api/users/me': { get: me(scope, users, user) },
    ...(mode === 'refresh' ? refreshPaths() : {}),
  };
}

/** Paths that set a password, or mail a code for it. `signedIn`: the answer to a person who is signed in. */
function passwordPaths(signedIn: ReturnType<typeof signedInAnswer>): Paths {
  const reset = { code: CODE, ...NEW_PASSWORD };
  const change = { currentPassword: 'the former one', ...NEW_PASSWORD };
  return {
    '/api/auth/forgot-password': {
      post: post('forgotPassword', 'Mail a code for a new password', EMAIL, { 200: OK, 501: NO_MAIL }),
    },
    '/api/auth/reset-password': {
      post: post('resetPassword', 'Set a new password with a code', reset, { 200: signedIn }),
    },
    '/api/auth/change-password': {
      post: post('changePassword', 'Set a new password', change, { 200: signedIn }),
    },
    '/api/auth/send-email-confirmation': {
      post: post('sendConfirmation', 'Mail a code that confirms an address', EMAIL, {
        200: SENT,
        501: NO_MAIL,
      }),
    },
  };
}

type Sample = Readonly<Record<string, string>>;

function post(
  operationId: string,
  summary: string,
  sample: Sample,
  responses: Readonly<Record<string, object>>,
): ApiOperation {
  return {
    operationId,
    tags: TAGS,
    summary,
    requestBody: jsonBody(textsSchema(...Object.keys(sample)), sample),
    responses: { ...responses, ...writeRefusals() },
  };
}

function textsSchema(...names: readonly string[]): JsonSchema {
  return objectSchema(Object.fromEntries(names.map((name) => [name, TEXT_SCHEMA])), names);
}

function registration(signedIn: object): ApiOperation {
  const sample = { username: 'grace', ...EMAIL, password: SECRET };
  return {
    ...post('register', 'Register', sample, { 200: signedIn, 501: NO_MAIL }),
    description: 'Answers without a JWT where an address has to be confirmed first.',
  };
}

function signedInAnswer(user: JsonSchema, sample: object, mode: DescribedLogin): object {
  const isRefreshed = mode === 'refresh';
  const properties = { jwt: TEXT_SCHEMA, ...(isRefreshed ? { refreshToken: TEXT_SCHEMA } : {}), user };
  const example = { jwt: JWT, ...(isRefreshed ? { refreshToken: JWT } : {}), user: sample };
  return jsonResponse('The user, and a JWT.', objectSchema(properties, ['user']), example);
}

function confirmation(): ApiOperation {
  return {
    operationId: 'confirmAddress',
    tags: TAGS,
    summary: 'Confirm an address, as the link in a mail does',
    parameters: [{ ...queryParameter('confirmation', 'The code.'), required: true }],
    responses: {
      204: { description: 'To HEAD, which confirms nothing.' },
      302: { description: 'Confirmed.' },
      ...readRefusals(),
    },
  };
}

function me(scope: PathScope, users: ContentType, sample: object): ApiOperation {
  const schema = modelRef(scope, users.uid);
  const names = ['fields', 'populate'];
  return {
    operationId: 'getMe',
    tags: TAGS,
    summary: 'Read the user of the JWT',
    description: 'With `populate=role` a caller whose role has `role.find` sees the role.',
    parameters: usersListParameters(scope, users).filter(({ name }) => names.includes(name)),
    responses: {
      200: jsonResponse('The user.', schema, sample),
      204: { description: 'The user was removed.' },
      ...readRefusals(),
    },
  };
}

function refreshPaths(): Paths {
  const pair = jsonResponse('The next ones.', textsSchema('jwt', 'refreshToken'), {
    jwt: JWT,
    refreshToken: JWT,
  });
  return {
    '/api/auth/refresh': {
      post: post('refreshSession', 'Get the next JWT', { refreshToken: JWT }, { 200: pair }),
    },
    '/api/auth/logout': {
      post: {
        operationId: 'signOut',
        tags: TAGS,
        summary: 'End sessions of the user of the JWT',
        responses: { 200: OK, ...writeRefusals() },
      },
    },
  };
}
