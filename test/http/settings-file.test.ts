import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, describe, expect, it } from 'vitest';
import { LOG_SETTINGS } from '../../services/cli/settings/data-settings.ts';
import { parseSettings, SERVE_SETTINGS } from '../../services/cli/settings/settings.ts';
import { settingsFileSchema, withSettingsFile } from '../../services/cli/settings/settings-file.ts';
import { runVarve } from '../support/run-varve.ts';

const folder = mkdtempSync(join(tmpdir(), 'varve-settings-'));
const path = join(folder, 'varve.json');
const isValid = new Ajv2020({ strict: false, validateFormats: false }).compile(settingsFileSchema());
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function written(content: unknown): string {
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
}

const GOOD = {
  $schema: './docs/varve.schema.json',
  content: { contentTypes: 'src', examples: true, acceptLoss: 'api::a.a.x,api::a.a.y' },
  network: { port: 8080, cors: 'https://example.org' },
  login: { login: true, jwtExpires: '12h' },
  operating: { logLevel: 'info', metrics: false },
};

describe('a settings file', () => {
  it('has the values of options, as numbers, switches and texts', () => {
    expect(isValid(GOOD)).toBe(true);
    const given = withSettingsFile(SERVE_SETTINGS, { config: written(GOOD) });
    expect(parseSettings(SERVE_SETTINGS, given)).toMatchObject({
      contentTypes: 'src',
      examples: true,
      acceptLoss: ['api::a.a.x', 'api::a.a.y'],
      port: 8080,
      cors: ['https://example.org'],
      jwtExpires: 12 * 60 * 60,
      metrics: false,
      host: '127.0.0.1',
    });
  });

  it('gives way to options and variables, and to commands that do not have a setting', () => {
    const config = written(GOOD);
    const given = withSettingsFile(SERVE_SETTINGS, { config, port: '9090', logLevel: undefined });
    expect(parseSettings(SERVE_SETTINGS, given)).toMatchObject({ port: 9090, logLevel: 'info' });
    expect(withSettingsFile(LOG_SETTINGS, { config, data: '/tmp/x' })).toEqual({ data: '/tmp/x' });
    expect(withSettingsFile(SERVE_SETTINGS, { port: '1' })).toEqual({ port: '1' });
  });

  it.each([
    ['no object', [], 'expected object'],
    ['an unknown group', { web: {} }, 'web is unknown; accepted: content, data, network'],
    ['an unknown name', { network: { prot: 1 } }, 'network.prot is unknown; accepted: port, host'],
    ['a text for a number', { network: { port: '80' } }, 'network.port "80" Invalid input: expected number'],
    [
      'a number beyond its bounds',
      { network: { port: 65_536 } },
      'network.port 65536 must be an integer from 0',
    ],
    ['a number for a text', { network: { host: 1 } }, 'network.host 1 Invalid input: expected string'],
    ['a text for a switch', { login: { login: 'yes' } }, 'login.login "yes" Invalid input: expected boolean'],
    [
      'a value that is not accepted',
      { operating: { logLevel: 'loud' } },
      'operating.logLevel "loud" must be one of',
    ],
  ])('is refused with its path: %s', (_what, content, message) => {
    expect(isValid(content), 'the published schema refuses it too').toBe(false);
    expect(() => withSettingsFile(SERVE_SETTINGS, { config: written(content) })).toThrow(message);
  });

  it('is refused with all of its problems', () => {
    const config = written({ network: { port: -1, hots: 'x' }, logs: {} });
    expect(() => withSettingsFile(SERVE_SETTINGS, { config })).toThrow(/port.*\n.*hots.*\n.*logs/);
  });

  it.each([
    ['is not JSON', () => written('{'), 'cannot be read'],
    ['is missing', () => join(folder, 'none.json'), 'cannot be read'],
  ])('is refused if it %s', (_what, config, message) => {
    expect(() => withSettingsFile(SERVE_SETTINGS, { config: config() })).toThrow(message);
  });
});

it('is read by every command, also from VARVE_CONFIG, and a wrong one ends the start', async () => {
  const nowhere = join(folder, 'nowhere');
  const config = written({ data: { data: nowhere } });
  const asked = await runVarve(['status'], { VARVE_CONFIG: config });
  expect([asked.code, asked.stderr]).toEqual([1, expect.stringContaining(`${nowhere} is not a Varve data`)]);
  const elsewhere = await runVarve(['status', '--data', `${nowhere}-2`, '--config', config]);
  expect(elsewhere.stderr).toContain(`${nowhere}-2 is not a Varve data`);
  const started = await runVarve(['serve', '--config', written({ network: { prot: 1 } })]);
  expect([started.code, started.stderr]).toEqual([
    1,
    expect.stringContaining('varve serve: invalid settings'),
  ]);
  expect(started.stderr).toContain('network.prot is unknown');
});

it('shows one group of options', async () => {
  const network = await runVarve(['serve', '--help', 'network']);
  expect(network.stdout).toContain('--port <number>');
  expect(network.stdout).not.toContain('--data <dir>');
  const wrong = await runVarve(['api', '--help', 'webhooks']);
  expect([wrong.code, wrong.stderr]).toEqual([1, expect.stringContaining('got "webhooks"')]);
  const all = await runVarve(['serve', '--help']);
  expect(all.stdout).toContain('--port <number>');
  expect(all.stdout).toContain('--data <dir>');
});
