import { describe, expect, it } from 'vitest';
import { InvalidSettings, parseSettings, SERVE_SETTINGS } from '../../services/cli/settings/settings.ts';
import { isLoopback } from '../../services/http/sockets/loopback.ts';

describe('settings of varve serve', () => {
  it('has a default for everything except the content types', () => {
    expect(parseSettings(SERVE_SETTINGS, { contentTypes: 'src' })).toMatchObject({
      contentTypes: 'src',
      data: '.varve',
      port: 1337,
      host: '127.0.0.1',
      examples: false,
      defaultLocale: 'en',
      usersEnvelope: false,
      space: 'varve',
      bodyLimit: 1_048_576,
      drainSeconds: 10,
      logLevel: 'warn',
      logFormat: undefined,
    });
  });

  it('lists every problem in one message, with option, variable and value', () => {
    const problems = messageOf({
      port: '70000',
      usersEnvelope: 'maybe',
      defaultLocale: 'e n',
      logLevel: 'loud',
    });
    expect(problems.split('\n')).toEqual([
      '  --content-types (VARVE_CONTENT_TYPES) is missing: pass a folder',
      '  --default-locale (VARVE_DEFAULT_LOCALE) "e n" must be a locale such as en, en-US or zh-Hans',
      '  --port (VARVE_PORT) "70000" must be an integer from 0 to 65535',
      '  --users-envelope (VARVE_USERS_ENVELOPE) "maybe" must be true or false',
      '  --log-level (VARVE_LOG_LEVEL) "loud" must be one of fatal, error, warn, info, debug, trace, silent',
    ]);
  });

  it.each([
    ['127.0.0.1', true],
    ['127.8.8.8', true],
    ['::1', true],
    ['localhost', true],
    ['0.0.0.0', false],
    ['::', false],
    ['192.168.1.5', false],
    ['example.org', false],
    ['127.0.0.1.example.org', false],
  ])('treats %j as loopback: %j', (host, loopback) => {
    expect(parseSettings(SERVE_SETTINGS, { contentTypes: 'src', host }).host).toBe(host);
    expect(isLoopback(host)).toBe(loopback);
  });

  it.each([
    ['https://example.org', ['https://example.org']],
    ['https://a.org, http://localhost:3000', ['https://a.org', 'http://localhost:3000']],
    ['*', ['*']],
    ['', []],
  ])('reads the origins %j', (cors, origins) => {
    expect(parseSettings(SERVE_SETTINGS, { contentTypes: 'src', cors }).cors).toEqual(origins);
  });

  it.each(['example.org', 'https://example.org/', 'https://example.org/path', 'null'])(
    'refuses the origin %j',
    (cors) => {
      expect(messageOf({ contentTypes: 'src', cors })).toContain('must be a list of origins');
    },
  );

  it.each([
    [true, true],
    ['true', true],
    ['1', true],
    ['false', false],
    ['0', false],
  ])('reads %j as %j', (text, value) => {
    expect(parseSettings(SERVE_SETTINGS, { contentTypes: 'src', examples: text }).examples).toBe(value);
  });
});

function messageOf(given: Readonly<Record<string, unknown>>): string {
  try {
    parseSettings(SERVE_SETTINGS, given);
  } catch (error) {
    expect(error).toBeInstanceOf(InvalidSettings);
    return (error as Error).message;
  }
  throw new Error('nothing was refused');
}
