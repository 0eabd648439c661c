import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { startFleet } from '../support/fleet.ts';
import type { DoubleVersion } from '../support/kurrentdb/double-services.ts';
import { type DoubleUser, startKurrentDbDouble } from '../support/kurrentdb/kurrentdb-double.ts';
import { takesMinutes } from '../support/takes-minutes.ts';
import { createTestCertificate, type TestCertificate } from '../support/test-certificate.ts';

/** The server of the log refuses a running fleet, and accepts it again. */
const ACCESS_KEY = Buffer.alloc(32, 7).toString('base64url');
const GOOD: DoubleUser = { password: 'secret', readsAll: true, writes: true };

let certificate: TestCertificate;
let unknown: TestCertificate;
beforeAll(() => {
  certificate = createTestCertificate();
  unknown = createTestCertificate();
});
afterAll(() => {
  certificate.remove();
  unknown.remove();
});

const post = (url: string, key: string) =>
  fetch(`${url}/api/tags`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ data: { key } }),
    signal: AbortSignal.timeout(45_000),
  });
const readiness = async (url: string) => {
  const answer = await fetch(`${url}/health/ready`);
  return { status: answer.status, text: await answer.text() };
};

type Refusal = {
  readonly name: string;
  readonly server: DoubleVersion;
  /** The user that the server has meanwhile; undefined: none. */
  readonly user: DoubleUser | undefined;
  /** The server has the certificate of an unknown authority meanwhile. */
  readonly isUntrusted?: boolean;
  /** Text in readiness and in the log. */
  readonly says: RegExp;
};

const refuse = async ({ server, user, isUntrusted = false, says }: Refusal) => {
  const users: Record<string, DoubleUser> = { varve: GOOD };
  const tls = { ...certificate };
  const double = await startKurrentDbDouble({ server, tls, users });
  onTestFinished(double.stop);
  const address = `kurrentdb://varve:secret@localhost:${double.port}?tlsCAFile=${encodeURIComponent(certificate.authorityFile)}`;
  const args = ['--access-key', ACCESS_KEY];
  const fleet = await startFleet({ size: 2, eventStore: address, arguments: args });
  onTestFinished(fleet.dispose);
  const urls = fleet.members.map((member) => member.server().url);
  const [url = ''] = urls;
  expect((await post(url, 'before')).status).toBe(201);
  if (user === undefined) delete users['varve'];
  else users['varve'] = user;
  if (isUntrusted) Object.assign(tls, unknown);
  double.interrupt();
  await double.resume();
  for (const each of urls)
    await expect
      .poll(() => readiness(each), { timeout: 60_000 })
      .toMatchObject({ status: 503, text: expect.stringMatching(says) });
  // Longer than the pause between two attempts of a subscription.
  await delay(4_000);
  const refused = await post(url, 'refused');
  expect(refused.status).toBe(503);
  for (const each of urls) {
    expect((await fetch(`${each}/api/tags`)).status).toBe(200);
    expect((await readiness(each)).text).not.toContain('secret');
  }
  users['varve'] = GOOD;
  Object.assign(tls, certificate);
  if (isUntrusted) {
    double.interrupt();
    await double.resume();
  }
  for (const each of urls)
    await expect.poll(() => readiness(each), { timeout: 60_000 }).toMatchObject({ status: 200 });
  expect((await post(url, 'after')).status).toBe(201);
  for (const member of fleet.members) {
    await expect
      .poll(async () => (await fetch(`${member.server().url}/api/tags?filters[key]=after`)).text())
      .toContain('"after"');
    expect(member.server().output()).toMatch(says);
    expect(member.server().output()).not.toMatch(/starting another one|cannot continue/);
    expect(await Promise.race([member.server().exited, delay(0, 'runs')])).toBe('runs');
  }
};

const WRONG_PASSWORD = /knows no user varve with this password/;
const REFUSALS: readonly Refusal[] = [
  {
    name: 'a user taken off the ACL of $all',
    server: '24.2',
    user: { ...GOOD, readsAll: false },
    says: /user varve may not read \$all/,
  },
  {
    name: 'another certificate',
    server: '26.1',
    user: GOOD,
    isUntrusted: true,
    says: /log does not answer|is not trusted/,
  },
  { name: 'a deleted user', server: '26.1', user: undefined, says: WRONG_PASSWORD },
];

test('no process ends after another password was set', { timeout: 300_000 }, () =>
  refuse({ name: '', server: '26.1', user: { ...GOOD, password: 'another' }, says: WRONG_PASSWORD }),
);

test('a password in a file is rotated without an outage', {
  ...takesMinutes('a rotated password'),
  timeout: 300_000,
}, async () => {
  const users: Record<string, DoubleUser> = { varve: GOOD };
  const double = await startKurrentDbDouble({ server: '24.2', tls: certificate, users });
  onTestFinished(double.stop);
  const folder = mkdtempSync(join(tmpdir(), 'varve-password-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'password');
  writeFileSync(file, 'secret\n');
  const address = `kurrentdb://varve@localhost:${double.port}?tlsCAFile=${encodeURIComponent(certificate.authorityFile)}&passwordFile=${encodeURIComponent(file)}`;
  const args = ['--access-key', ACCESS_KEY];
  const fleet = await startFleet({ size: 2, eventStore: address, arguments: args });
  onTestFinished(fleet.dispose);
  const urls = fleet.members.map((member) => member.server().url);
  let ended = false;
  const statuses = new Set<number>();
  const writing = urls.map(async (url, n) => {
    for (let key = 0; !ended; key += 1) statuses.add((await post(url, `${n}-${key}`)).status);
  });
  await delay(500);
  users['varve'] = { ...GOOD, password: 'another' };
  await delay(1_500);
  writeFileSync(file, 'another\n');
  await delay(3_000);
  double.interrupt();
  await double.resume();
  await delay(3_000);
  ended = true;
  await Promise.all(writing);
  expect([...statuses]).toEqual([201]);
  for (const url of urls)
    await expect.poll(() => readiness(url), { timeout: 60_000 }).toMatchObject({ status: 200 });
});

describe('no process ends', takesMinutes('refusals at run time'), () => {
  test.each(REFUSALS)('$name on $server', { timeout: 300_000 }, refuse);
});
