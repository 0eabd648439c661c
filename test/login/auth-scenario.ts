/**
 * Requests of a front end to Strapi's login, in an order in which each step finds what it needs. record-strapi.ts sends the steps to a
 * real Strapi and records the answers; recorded-answers.test.ts sends the same steps to Varve.
 */

export type Step = {
  readonly name: string;
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE' | 'HEAD';
  readonly path: string;
  readonly body?: unknown;
  /** JWT of the request: a name under which an earlier step kept one, or the text of a header. */
  readonly as?: string;
  /** Keeps the JWT, the user's id and the refresh token of the answer under this name. */
  readonly keep?: string;
  /** Switches that are set before the request, as Strapi stores them. */
  readonly switches?: Readonly<Record<string, unknown>>;
  /** The newest mail is compared as well. */
  readonly mail?: true;
};

const post = (name: string, path: string, body: unknown, more: Partial<Step> = {}): Step => ({
  ...{ name, method: 'POST', path: `/api/auth/${path}`, body },
  ...more,
});
const get = (name: string, path: string, more: Partial<Step> = {}): Step => ({
  ...{ name, method: 'GET', path: `/api/${path}` },
  ...more,
});

const alice = { username: 'alice', email: 'Alice@Example.com', password: 'first password' };
const carol = { username: 'carol', email: 'carol@example.com', password: 'carol password' };
const long = 'ü'.repeat(37);

const REGISTER: readonly Step[] = [
  post('register', 'local/register', alice, { keep: 'alice' }),
  post('register without a body', 'local/register', {}),
  post('register without a password', 'local/register', { username: 'bob', email: 'bob@example.com' }),
  post('register with an empty name', 'local/register', { ...carol, username: '' }),
  post('register with what is no address', 'local/register', { ...carol, email: 'carol' }),
  post('register with a number as password', 'local/register', { ...carol, password: 123456 }),
  post('register with a short password', 'local/register', { ...carol, password: 'abc' }),
  post('register with a short name', 'local/register', { ...carol, username: 'ca' }),
  post('register with a password of 74 bytes', 'local/register', { ...carol, password: long }),
  post('register with a role', 'local/register', { ...carol, role: 2, confirmed: true }),
  post('register with a taken address', 'local/register', { ...carol, email: 'ALICE@example.com' }),
  post('register with a taken name', 'local/register', { ...carol, username: 'alice' }),
  post('register with an address as name', 'local/register', { ...carol, username: 'alice@example.com' }),
  post('register with a JWT', 'local/register', carol, { as: 'alice' }),
];

const LOCAL: readonly Step[] = [
  post('local by address', 'local', { identifier: 'alice@example.com', password: alice.password }),
  post('local by address in capitals', 'local', {
    identifier: 'ALICE@EXAMPLE.COM',
    password: alice.password,
  }),
  post('local by name', 'local', { identifier: 'alice', password: alice.password }, { keep: 'alice' }),
  post('local by name in capitals', 'local', { identifier: 'Alice', password: alice.password }),
  post('local with a wrong password', 'local', { identifier: 'alice', password: 'wrong' }),
  post('local of nobody', 'local', { identifier: 'nobody', password: 'wrong' }),
  post('local without a password', 'local', { identifier: 'alice' }),
  post('local without a body', 'local', {}),
  post('local with a list', 'local', { identifier: ['alice'], password: alice.password }),
  post('local with an empty password', 'local', { identifier: 'alice', password: '' }),
  post('local with a JWT', 'local', { identifier: 'alice', password: alice.password }, { as: 'alice' }),
  { name: 'local by GET', method: 'GET', path: '/api/auth/local' },
];

const ME: readonly Step[] = [
  get('me', 'users/me', { as: 'alice' }),
  get('me without a JWT', 'users/me'),
  get('me with a JWT of others', 'users/me', {
    as: 'Bearer eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJpZCI6MX0.AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA',
  }),
  get('me with an unknown token', 'users/me', { as: `Bearer ${'0123456789abcdef'.repeat(16)}` }),
  get('me with fields', 'users/me?fields[0]=username&fields[1]=email', { as: 'alice' }),
  get('me with the role', 'users/me?populate=role', { as: 'alice' }),
  get('me with everything', 'users/me?populate=*', { as: 'alice' }),
  get('me with a filter', 'users/me?filters[username][$eq]=nobody', { as: 'alice' }),
  get('me with an unknown parameter', 'users/me?utm_source=x', { as: 'alice' }),
  get('me with a password field', 'users/me?fields[0]=password', { as: 'alice' }),
];

const CHANGE: readonly Step[] = [
  post('change without a JWT', 'change-password', {
    currentPassword: alice.password,
    password: 'second password',
    passwordConfirmation: 'second password',
  }),
  post('change without a body', 'change-password', {}, { as: 'alice' }),
  post(
    'change with a wrong password',
    'change-password',
    { currentPassword: 'wrong', password: 'second password', passwordConfirmation: 'second password' },
    { as: 'alice' },
  ),
  post(
    'change to the same password',
    'change-password',
    {
      currentPassword: alice.password,
      password: alice.password,
      passwordConfirmation: alice.password,
    },
    { as: 'alice' },
  ),
  post(
    'change with another confirmation',
    'change-password',
    { currentPassword: alice.password, password: 'second password', passwordConfirmation: 'other' },
    { as: 'alice' },
  ),
  post(
    'change to 74 bytes',
    'change-password',
    { currentPassword: alice.password, password: long, passwordConfirmation: long },
    { as: 'alice' },
  ),
  post(
    'change',
    'change-password',
    {
      currentPassword: alice.password,
      password: 'second password',
      passwordConfirmation: 'second password',
    },
    { as: 'alice', keep: 'alice' },
  ),
  post('local with the former password', 'local', { identifier: 'alice', password: alice.password }),
  post('local with the new password', 'local', { identifier: 'alice', password: 'second password' }),
];

const reset = (code: string, password = 'third password') => ({
  ...{ code, password, passwordConfirmation: password },
});

const RESET: readonly Step[] = [
  post('forgot of nobody', 'forgot-password', { email: 'nobody@example.com' }),
  post('forgot without a body', 'forgot-password', {}),
  post('forgot of no address', 'forgot-password', { email: 'alice' }),
  post('forgot', 'forgot-password', { email: 'ALICE@example.com' }, { mail: true }),
  post('reset with a wrong code', 'reset-password', reset('wrong')),
  post('reset without a body', 'reset-password', {}),
  post('reset with another confirmation', 'reset-password', {
    ...reset('{code}'),
    passwordConfirmation: 'other',
  }),
  post('reset', 'reset-password', reset('{code}'), { keep: 'alice' }),
  post('reset again', 'reset-password', reset('{code}', 'fourth password')),
  post('local after the reset', 'local', { identifier: 'alice', password: 'third password' }),
  get('me after the reset', 'users/me', { as: 'alice' }),
];

const CONFIRM: readonly Step[] = [
  post('register to be confirmed', 'local/register', carol, {
    switches: { email_confirmation: true, email_confirmation_redirection: 'https://example.com/welcome' },
    keep: 'carol',
    mail: true,
  }),
  post('local before the confirmation', 'local', { identifier: 'carol', password: carol.password }),
  post('local before the confirmation, wrong password', 'local', { identifier: 'carol', password: 'wrong' }),
  post('send the confirmation of nobody', 'send-email-confirmation', { email: 'nobody@example.com' }),
  post('send the confirmation without a body', 'send-email-confirmation', {}),
  post('send the confirmation', 'send-email-confirmation', { email: 'Carol@example.com' }, { mail: true }),
  get('confirm with a wrong code', 'auth/email-confirmation?confirmation=wrong'),
  get('confirm without a code', 'auth/email-confirmation'),
  get('confirm', 'auth/email-confirmation?confirmation={code}'),
  get('confirm again', 'auth/email-confirmation?confirmation={code}'),
  post('send the confirmation of a confirmed user', 'send-email-confirmation', {
    email: 'carol@example.com',
  }),
  post(
    'local after the confirmation',
    'local',
    { identifier: 'carol', password: carol.password },
    { keep: 'carol' },
  ),
];

const BLOCKED: readonly Step[] = [
  {
    name: 'block a user',
    method: 'PUT',
    path: '/api/users/{carol.id}',
    body: { blocked: true },
    switches: { email_confirmation: false },
  },
  post('local of a blocked user', 'local', { identifier: 'carol', password: carol.password }),
  post('local of a blocked user, wrong password', 'local', { identifier: 'carol', password: 'wrong' }),
  get('me of a blocked user', 'users/me', { as: 'carol' }),
  post('forgot of a blocked user', 'forgot-password', { email: 'carol@example.com' }),
  { name: 'unblock a user', method: 'PUT', path: '/api/users/{carol.id}', body: { blocked: false } },
  { name: 'remove a user', method: 'DELETE', path: '/api/users/{carol.id}' },
  get('me of a removed user', 'users/me', { as: 'carol' }),
  post('register where it is off', 'local/register', carol, { switches: { allow_register: false } }),
];

const OTHERS: readonly Step[] = [
  get('connect', 'connect/github'),
  get('callback of a provider', 'auth/github/callback?access_token=x'),
  post('refresh', 'refresh', { refreshToken: 'x' }),
  post('logout', 'logout', {}, { as: 'alice' }),
];

export const LEGACY_STEPS: readonly Step[] = [
  ...[...REGISTER, ...LOCAL, ...ME, ...CHANGE, ...RESET, ...CONFIRM, ...BLOCKED, ...OTHERS],
];

const dave = { username: 'dave', email: 'dave@example.com', password: 'dave password' };

/** Steps for `jwtManagement: refresh`. */
export const REFRESH_STEPS: readonly Step[] = [
  post('register', 'local/register', dave, { keep: 'first' }),
  post('local', 'local', { identifier: 'dave', password: dave.password }, { keep: 'second' }),
  get('me', 'users/me', { as: 'second' }),
  get('me with a refresh token', 'users/me', { as: 'Bearer {second.refreshToken}' }),
  post('refresh without a token', 'refresh', {}),
  post('refresh with no token', 'refresh', { refreshToken: 'x' }),
  post('refresh with an access token', 'refresh', { refreshToken: '{second.jwt}' }),
  post('refresh', 'refresh', { refreshToken: '{second.refreshToken}' }, { keep: 'third' }),
  get('me after a refresh', 'users/me', { as: 'third' }),
  post('logout without a JWT', 'logout', {}),
  post('logout', 'logout', { refreshToken: '{third.refreshToken}' }, { as: 'third' }),
  post('refresh after the logout', 'refresh', { refreshToken: '{third.refreshToken}' }),
  post('refresh of another session', 'refresh', { refreshToken: '{first.refreshToken}' }, { keep: 'fourth' }),
  post(
    'change',
    'change-password',
    { currentPassword: dave.password, password: 'second password', passwordConfirmation: 'second password' },
    { as: 'fourth', keep: 'fifth' },
  ),
  post('refresh with a token from before the change', 'refresh', { refreshToken: '{fourth.refreshToken}' }),
  post(
    'refresh with the token of the change',
    'refresh',
    { refreshToken: '{fifth.refreshToken}' },
    { keep: 'sixth' },
  ),
  post('logout everywhere', 'logout', { scope: 'all' }, { as: 'sixth' }),
  post('refresh after it', 'refresh', { refreshToken: '{sixth.refreshToken}' }),
];
