import type { Random } from '../support/naive-random.ts';
import { mutateJson, mutateText } from './mutate.ts';
import { type Caller, encode, type FuzzMaterial, type Request, requestOf } from './requests.ts';

/** Mutated requests for feeds, streams, tickets, webhooks and logins, and pairs that must get equal answers. */

const STREAM = 'Accept: text/event-stream';
const TYPES = [
  ...['restaurants', 'tags', 'articles', 'tags,articles', 'api::tag.tag', 'restaurants,api::tag.tag'],
  ...['restaurants', 'tags', 'api::restaurant.restaurant', 'restaurants,tags', 'articles,,tags', 'chefs'],
  ...['users', 'upload_files', 'plugin::upload.file', '', '*', 'x'.repeat(3_000)],
];
const PARAMETERS: Readonly<Record<string, readonly string[]>> = {
  types: TYPES,
  locales: ['en', 'de', 'en,de', 'de,en', '*', ''],
  status: ['published', 'published', 'draft', 'draft,published', 'x'],
  related: ['true', 'true', 'false', '1'],
  limit: ['1', '2', '10', '100', '1000', '0', '1001', '1e3'],
  ticket: ['x', 'x'.repeat(2_000), ''],
  live: ['true'],
};

const OWN_PATHS = [
  ...['/_varve/tickets', '/_varve/tokens', '/_varve/tokens/x', '/_varve/public', '/_varve/roles'],
  ...['/_varve/roles/public', '/_varve/login', '/_varve/leader', '/_varve/status', '/_varve/projections'],
  ...['/_varve/webhooks', '/_varve/webhooks/x', '/_varve/webhooks/x/pause', '/_varve/webhooks/x/test'],
  ...['/_varve/webhooks/x/replay', '/_varve/webhooks/x/deliveries?state=parked&limit=3'],
  '/_varve/webhooks/%2e%2e/deliveries',
];
const LOGIN_PATHS = [
  ...['local', 'local/register', 'forgot-password', 'reset-password', 'change-password', 'refresh', 'logout'],
  ...['send-email-confirmation', 'email-confirmation?confirmation=x', 'x/callback', 'local?x=1'],
].map((path) => `/api/auth/${path}`);

const BODIES: readonly unknown[] = [
  { data: { name: 'a', type: 'custom', allow: ['tag.find'], expiresAt: '2030-01-01' } },
  { data: { allow: ['tag.find'] } },
  { data: { from: 1 } },
  { data: { delivery: 'wh_x' } },
  { data: { name: 'a', description: 'b', allow: [], drafts: false, login: true } },
  { identifier: 'u', password: 'a long secret' },
  { username: 'u', email: 'u@example.org', password: 'a long secret' },
  { code: 'x', password: 'a long secret', passwordConfirmation: 'a long secret' },
];
const HOOK = { events: ['entry.publish'], types: ['api::tag.tag'], locales: ['en'], headers: { 'X-A': 'b' } };
/** URLs of this machine at which nothing listens, so accepted webhooks reach no other machine. */
const HOOK_URLS = [
  ...['http://127.0.0.1:9/hook', 'http://localhost:9/', 'http://[::1]:9/', 'ftp://127.0.0.1/', '//127.0.0.1'],
  ...['http://127.0.0.1:99999/', 'http://u:p@127.0.0.1:9/', 'http:127.0.0.1:9', '', 5, null],
];

/** Returns a request of one of these kinds. About half of them are mutated. */
export function makeDeliveryRequest(random: Random, material: FuzzMaterial): Request {
  const kind = random.next();
  if (kind < 0.4) return makeFeedRequest(random, material);
  if (kind < 0.6) return makeLiveRequest(random, material);
  if (kind < 0.7) return makeHookRequest(random, material);
  return makeOwnRequest(random, material);
}

function makeFeedRequest(random: Random, material: FuzzMaterial): Request {
  const caller = anyCaller(random);
  const token = material.syncTokens[caller];
  const since = random.pick([token, token, mutateText(token, random), '1.x', '0.', '']);
  const isResumed = random.chance(0.5);
  // A token is only valid with the parameters for which it was issued.
  const names = random.sample(Object.keys(PARAMETERS), isResumed ? 0 : random.between(0, 3));
  const query = [
    ...(isResumed ? [`since=${encodeURIComponent(since)}`] : []),
    ...names.map((name) => `${name}=${encodeURIComponent(random.pick(PARAMETERS[name] ?? []))}`),
  ];
  const headers = random.chance(0.5)
    ? [STREAM, ...(random.chance(0.5) ? [`Last-Event-ID: ${since.replace(/[^\x21-\x7e]/g, '')}`] : [])]
    : [];
  return get(random, material, { caller, target: `/api/_changes?${query.join('&')}`, headers });
}

function makeLiveRequest(random: Random, material: FuzzMaterial): Request {
  const url = random.pick(material.openUrls);
  const live = `live=${random.pick(['true', 'notify', 'true', 'x', ''])}`;
  const headers = random.chance(0.7) ? [STREAM, ...(random.chance(0.3) ? ['Last-Event-ID: "x"'] : [])] : [];
  const target = `${url}${url.includes('?') ? '&' : '?'}${live}`;
  return get(random, material, { caller: anyCaller(random), target, headers });
}

/** Returns a request to Varve's own routes or to logins. Callers with full access must not change rights: other inputs depend on them. */
function makeOwnRequest(random: Random, material: FuzzMaterial): Request {
  const caller = anyCaller(random);
  const target = random.pick([...OWN_PATHS, ...LOGIN_PATHS]);
  const mayWrite = caller !== 'full' || /tickets|webhooks|auth/.test(target);
  const method = mayWrite ? random.pick(['GET', 'POST', 'POST', 'PUT', 'DELETE', 'PATCH']) : 'GET';
  const json = JSON.stringify(mutateJson(random.pick(BODIES), random));
  const body = method === 'GET' || random.chance(0.2) ? '' : json;
  const wrong = random.chance(0.3) && caller !== 'full' ? mutateText(target, random) : target;
  return requestOf(material, { caller, method, target: wrong, body, headers: [] });
}

function makeHookRequest(random: Random, material: FuzzMaterial): Request {
  const rest = random.chance(0.4) ? mutateJson(HOOK, random) : HOOK;
  const data = {
    ...(rest as object),
    url: random.pick(HOOK_URLS),
    allowPrivate: random.pick([true, false, 'x']),
  };
  const caller = random.pick<Caller>(['full', 'full', 'site']);
  const target = '/_varve/webhooks';
  const body = JSON.stringify({ data });
  return requestOf(material, { caller, method: 'POST', target, body, headers: [] });
}

type Got = { readonly caller: Caller; readonly target: string; readonly headers: readonly string[] };

function get(random: Random, material: FuzzMaterial, { caller, target, headers }: Got): Request {
  const wrong = random.chance(0.4) ? mutateText(target, random) : target;
  return requestOf(material, { caller, method: 'GET', target: wrong, body: '', headers });
}

function anyCaller(random: Random): Caller {
  return random.pick<Caller>(['anonymous', 'anonymous', 'site', 'full']);
}

const HIDDEN_TYPES = ['chefs', 'menus', 'reviews', 'api::chef.chef', 'plugin::users-permissions.user'];

/** Returns a pair of requests for changes: of a type that the caller may not find, and of a type that does not exist. */
export function makeDeliveryProbe(random: Random, material: FuzzMaterial): Request {
  const caller = random.pick<Caller>(['anonymous', 'site']);
  const name = random.pick(HIDDEN_TYPES);
  const other = name.includes('::')
    ? name.replace(/[a-z-]+$/, (last) => `zq${'x'.repeat(last.length - 2)}`)
    : `zq${'x'.repeat(name.length - 2)}`;
  const headers = random.chance(0.3) ? [STREAM] : [];
  const rest = random.pick(['', '&related=true', '&status=draft', '&limit=1', '&since=1.x']);
  const types = random.pick([(type: string) => type, (type: string) => `restaurants,${type}`]);
  const bytesOf = (type: string) =>
    encode(material, {
      caller,
      method: 'GET',
      target: `/api/_changes?types=${types(type)}${rest}`,
      body: '',
      headers,
    });
  return {
    kind: 'probe',
    caller,
    method: 'GET',
    bytes: bytesOf(name),
    pair: { bytes: bytesOf(other), name, other },
  };
}
