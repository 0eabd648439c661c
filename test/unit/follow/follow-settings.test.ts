import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { FOLLOW_SETTINGS, followSettings } from '../../../services/cli/settings/follow-settings.ts';
import { InvalidSettings, parseSettings } from '../../../services/cli/settings/settings.ts';

const folder = mkdtempSync(join(tmpdir(), 'varve-follow-settings-'));
afterAll(() => rmSync(folder, { recursive: true }));
const secret = join(folder, 'secret');
writeFileSync(secret, 'sixteen characters\n');
writeFileSync(join(folder, 'empty'), '\n');

const read = (given: Record<string, unknown>, login = false) =>
  followSettings({ ...parseSettings(FOLLOW_SETTINGS, given), login }, '/api', () => {});
const FOLLOW = { follow: 'https://cms.example.com' };

it('follows nothing without --follow', () => {
  expect(read({ followTokenFile: '/nowhere' })).toBeUndefined();
});

it('reads secrets from files, and times with units', () => {
  expect(
    read({ ...FOLLOW, followTokenFile: secret, followWebhookSecretFile: secret, followInterval: '2m' }),
  ).toMatchObject({
    ...{ url: 'https://cms.example.com', token: 'sixteen characters', webhookSecret: 'sixteen characters' },
    ...{ intervalMs: 120_000, rate: 5, writes: 'forward', from: undefined },
  });
});

describe('refuses', () => {
  it.each([
    [{ followFrom: 'package.json' }, 'is not an archive that strapi export wrote'],
    [{ followTokenFile: '/nowhere' }, '--follow-token-file "/nowhere" cannot be read'],
    [{ followTokenFile: join(folder, 'empty') }, 'is empty'],
  ])('%j', (given, message) => {
    expect(() => read({ ...FOLLOW, ...given })).toThrow(message);
  });

  it('--login together with --follow', () => {
    expect(() => read(FOLLOW, true)).toThrow('--login cannot be used with --follow');
  });

  it.each([
    { follow: 'cms.example.com' },
    { follow: 'file:///etc' },
    { followInterval: '30' },
    { followRate: '0' },
    { followWrites: 'keep' },
    { followWebhookSecret: 'short' },
  ])('%j', (given) => {
    expect(() => read({ ...FOLLOW, ...given })).toThrow(InvalidSettings);
  });
});
