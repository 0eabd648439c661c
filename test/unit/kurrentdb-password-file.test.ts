import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { parseAddress } from '../../shared/event-store/kurrentdb/kurrentdb-address.ts';

const passwordFile = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'varve-password-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'password');
  writeFileSync(file, 'first: @/\n');
  return file;
};

test('the password is read from the file, and again', async () => {
  const file = passwordFile();
  const { credentials, shown } = parseAddress(
    `esdb://varve@db:2113?discoveryInterval=5&passwordFile=${file}`,
  );
  expect(credentials?.()).toEqual({ username: 'varve', password: 'first: @/' });
  expect(shown).not.toContain('first');
  writeFileSync(file, 'second');
  await vi.waitUntil(() => credentials?.().password === 'second', { timeout: 60_000 });
  rmSync(file);
  vi.useFakeTimers({ now: 0, toFake: ['performance'] });
  onTestFinished(() => void vi.useRealTimers());
  vi.advanceTimersByTime(60_000);
  expect(credentials?.().password).toBe('second');
});

test.each([
  ['kurrentdb://varve:guess@db:2113?passwordFile=FILE', /needs a user without a password in the address/],
  ['kurrentdb://db:2113?passwordFile=FILE', /needs a user without a password in the address/],
  ['kurrentdb://varve@db:2113?passwordFile=FILE.gone', /passwordFile cannot be read: .*ENOENT/],
])('%s is refused', (address, reason) => {
  const parse = () => parseAddress(address.replace('FILE', passwordFile()));
  expect(parse).toThrow(reason);
  expect(parse).not.toThrow(/guess/);
});
