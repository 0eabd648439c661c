import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Setting } from '../../../services/cli/settings/setting.ts';
import { withoutCredentials } from '../../../services/cli/settings/setting-origins.ts';
import { SERVE_SETTINGS } from '../../../services/cli/settings/settings.ts';
import type { SettingsInForce } from '../../../services/state/settings-in-force.ts';
import { createAsk, createTokenOver } from '../../support/access-client.ts';
import { runVarve } from '../../support/run-varve.ts';
import { type RunningServer, startServer } from '../../support/server.ts';
import { takesMinutes } from '../../support/takes-minutes.ts';

/** Words of settings that may be secrets, and those that are none. */
const MAY_BE_SECRET = /key|passphrase|password|secret|token/;
const NO_SECRETS = ['cacheToken', 'followTokenFile', 'followWebhookSecretFile', 'jwtSecretFile'];
const SECRET = 'a-secret-of-32-bytes-in-base64url-0123456789';

const folder = mkdtempSync(join(tmpdir(), 'varve-settings-'));
const config = join(folder, 'varve.json');
let server: RunningServer;
let full: string;
let reader: string;

beforeAll(async () => {
  writeFileSync(config, JSON.stringify({ network: { streams: 77 }, webhooks: { webhookKeep: 5 } }));
  server = await startServer({
    arguments: ['--config', config, '--max-offset', '4321', '--purge', 'varnish=http://127.0.0.1:1/'],
    env: {
      VARVE_ACCESS_KEY: SECRET,
      VARVE_PURGE_TOKEN: 'hidden-word',
      VARVE_BODY_LIMIT: '654321',
      VARVE_MAIL: 'smtp://u:hidden-word@127.0.0.1:1',
      VARVE_LOGIN: 'true',
      VARVE_MAIL_FROM: 'a@example.com',
    },
  });
  const ask = createAsk(server.url);
  full = await createTokenOver(ask, { name: 'full', type: 'full-access' });
  reader = await createTokenOver(createAsk(server.url, full), {
    name: 'reader',
    type: 'read-only',
    drafts: true,
  });
}, 120_000);
afterAll(async () => {
  await server?.dispose();
  rmSync(folder, { recursive: true, force: true });
});

it('shows each setting with its source, and no secret', async () => {
  const { status, body } = await createAsk(server.url, full)('/_varve/settings');
  expect(status).toBe(200);
  const { settings, role } = body.data as SettingsInForce;
  expect(role).toBe('serve');
  expect(settings).toHaveLength(Object.keys(SERVE_SETTINGS).length);
  const found = Object.fromEntries(settings.map(({ name, value, source }) => [name, [source, value]]));
  expect(found).toMatchObject({
    streams: ['file', '77'],
    webhookKeep: ['file', '5'],
    maxOffset: ['option', '4321'],
    bodyLimit: ['variable', '654321'],
    accessKey: ['variable', null],
    purgeToken: ['variable', null],
    purge: ['option', 'varnish=http://127.0.0.1:1/'],
    webhookTimeout: ['default', '15000'],
    mail: ['variable', 'smtp://[hidden]@127.0.0.1:1'],
    rehash: ['default', 'none'],
  });
  const text = JSON.stringify(body);
  expect(text).not.toContain(SECRET);
  expect(text).not.toContain('hidden-word');
});

it('varve settings shows the same', async () => {
  const { code, stdout, stderr } = await runVarve(['settings', '--data', server.data]);
  expect(code, stderr).toBe(0);
  expect(stdout).toMatch(/^--max-offset +4321 +option$/m);
  expect(stdout).toMatch(/^--access-key +\(secret\) +variable$/m);
  expect(stdout).not.toContain('--webhook-timeout');
  expect(stdout).not.toContain('hidden-word');
});

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];
const ENDS = ['', '/', '?', '?a=1', '?asOf=1', '/x', '/x?y[z]=1', '%00', '?explain=true', '/..%2Ftokens'];
const SENT: readonly RequestInit[] = [
  {},
  { headers: { accept: 'text/event-stream' } },
  { headers: { 'content-type': 'application/json' }, body: '{"data":{}}' },
  { headers: { 'content-type': 'application/json' }, body: '{' },
];

type Probe = { readonly end: string; readonly request: RequestInit };

/** Returns requests of a caller, which each name of a path gets. */
function probesOf(token: string | undefined): readonly Probe[] {
  const bearer = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const requests = METHODS.flatMap((method) =>
    SENT.filter(({ body }) => body === undefined || !['GET', 'HEAD'].includes(method)).map(
      ({ headers, ...init }) => ({ ...init, method, headers: { ...(headers as object), ...bearer } }),
    ),
  );
  return requests.flatMap((request) => ENDS.map((end) => ({ end, request })));
}

async function answerTo(name: string, { end, request }: Probe): Promise<object> {
  const answer = await fetch(`${server.url}/_varve/${name}${end}`, request);
  const headers = [...answer.headers].filter(([header]) => header !== 'date' && header !== 'x-request-id');
  return { status: answer.status, headers, body: await answer.text() };
}

const patiently = { ...takesMinutes('probes of the settings'), timeout: 300_000 };

it('is an unknown path to callers without the right', patiently, async () => {
  const probes = [...probesOf(reader), ...probesOf(undefined)];
  expect(probes.length).toBeGreaterThan(400);
  for (const probe of probes)
    expect(await answerTo('settings', probe), JSON.stringify(probe)).toEqual(
      await answerTo('settingz', probe),
    );
});

it('marks every secret among the settings', () => {
  const unmarked = Object.entries<Setting>(SERVE_SETTINGS).filter(
    ([name, { flags, isSecret }]) =>
      isSecret !== true && MAY_BE_SECRET.test(flags) && !NO_SECRETS.includes(name),
  );
  expect(unmarked.map(([name]) => name)).toEqual([]);
});

it.each([
  ['kurrentdb://admin:changeit@a:2113?tls=false', 'kurrentdb://[hidden]@a:2113?tls=false'],
  ['s3://AK:se/cret@bucket', 's3://[hidden]@bucket'],
  [
    's3://bucket?accessKeyId=a&secretAccessKey=b&region=c',
    's3://bucket?accessKeyId=[hidden]&secretAccessKey=[hidden]&region=c',
  ],
  ['varnish=http://u:p@a/,fastly=https://b', 'varnish=http://[hidden]@a/,fastly=https://b'],
  ['.varve', '.varve'],
])('hides credentials in %s', (text, shown) => {
  expect(withoutCredentials(text)).toBe(shown);
});
