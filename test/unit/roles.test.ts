import { describe, expect, it } from 'vitest';
import { createLogger } from '../../services/cli/output/create-logger.ts';
import { chooseReadSide } from '../../services/cli/settings/read-side.ts';
import { refuseUnusable } from '../../services/cli/settings/refuse-unusable.ts';
import { type ProcessRole, ROLE_SETTINGS } from '../../services/cli/settings/roles.ts';
import {
  InvalidSettings,
  parseServeSettings,
  parseSettings,
  SERVE_SETTINGS,
} from '../../services/cli/settings/settings.ts';

const ELASTICSEARCH = { readIndex: 'http://127.0.0.1:9200' };
const KURRENTDB = { eventStore: 'kurrentdb://log:2113', accessKey: 'a'.repeat(43) };
const SQLITE = { eventStore: 'sqlite:/tmp/log/events.db' };

function refusal(role: ProcessRole, given: Readonly<Record<string, string>>): string {
  try {
    refuseUnusable(role, parseServeSettings({ contentTypes: 'src', ...given }));
  } catch (error) {
    expect(error).toBeInstanceOf(InvalidSettings);
    return (error as Error).message;
  }
  return '';
}

describe('options that cannot work together are refused with a message that says what to use', () => {
  it.each<[ProcessRole, Readonly<Record<string, string>>, readonly RegExp[]]>([
    ['api', { ...SQLITE }, [/--read-index .* cannot be embedded: varve api reads .*, so pass its address/]],
    ['api', { ...SQLITE, readIndex: 'embedded' }, [/--read-index .* or use varve serve/]],
    ['project', {}, [/--read-index .* cannot be embedded: varve project writes Elasticsearch/]],
    ['api', ELASTICSEARCH, [/--event-store .* is missing: .* such as sqlite:FILE or kurrentdb:/]],
    ['api', {}, [/--read-index/, /--event-store/]],
    ['api', { ...ELASTICSEARCH, ...KURRENTDB }, [/--assets .* is missing: .* or s3:\/\/bucket\/prefix/]],
    ['project', { ...ELASTICSEARCH, ...KURRENTDB }, [/--assets .* is missing/]],
    [
      'project',
      { ...ELASTICSEARCH, ...KURRENTDB, assets: '/assets', host: '0.0.0.0' },
      [/--advertise .* is missing: other machines cannot reach 0\.0\.0\.0/],
    ],
    ['serve', { ...KURRENTDB, host: '::' }, [/--advertise .* cannot reach ::/]],
  ])('varve %s with %j', (role, given, sentences) => {
    const lines = refusal(role, given).split('\n');
    expect(lines).toHaveLength(sentences.length);
    for (const [i, sentence] of sentences.entries()) expect(lines[i]).toMatch(sentence);
  });

  it.each<[ProcessRole, Readonly<Record<string, string>>]>([
    ['serve', {}],
    ['serve', { ...SQLITE, host: '0.0.0.0' }],
    ['serve', { ...KURRENTDB }],
    ['project', ELASTICSEARCH],
    ['project', { ...ELASTICSEARCH, ...SQLITE, host: '0.0.0.0' }],
    ['project', { ...ELASTICSEARCH, ...KURRENTDB, assets: 's3://media' }],
    ['project', { readIndexCloudId: 'x', ...SQLITE }],
    ['api', { ...ELASTICSEARCH, ...SQLITE }],
    ['api', { ...ELASTICSEARCH, ...KURRENTDB, assets: '/assets', host: '0.0.0.0' }],
  ])('varve %s with %j is not', (role, given) => {
    expect(refusal(role, given)).toBe('');
  });
});

describe('how far documents copy relations', () => {
  const chosen = async (given: Readonly<Record<string, string>>) => {
    const settings = parseSettings(SERVE_SETTINGS, { contentTypes: 'src', ...given });
    return chooseReadSide(settings, await createLogger({ logLevel: 'silent', logFormat: 'json' }));
  };

  it('is a setting for Elasticsearch, and refused for the embedded index, which has no documents', async () => {
    const { graph } = await chosen({ ...ELASTICSEARCH, denormaliseToOne: '0', denormaliseToMany: '0' });
    expect(graph.dependencies).toBeDefined();
    for (const name of ['denormaliseToOne', 'denormaliseToMany']) {
      await expect(chosen({ [name]: '1' })).rejects.toThrow(/--denormalise-to-.* with --read-index, or omit/);
    }
  });

  it.each([
    ['denormaliseToOne', '6', /integer from 0 to 5/],
    ['denormaliseToMany', '2', /integer from 0 to 1/],
  ])('cannot be %s %s', (name, value, sentence) => {
    expect(() => parseSettings(SERVE_SETTINGS, { contentTypes: 'src', [name]: value })).toThrow(sentence);
  });
});

describe('a role has only options that it uses', () => {
  it.each<[ProcessRole, readonly string[]]>([
    ['serve', []],
    [
      'project',
      [
        ...['answerCacheBytes', 'cacheTags', 'cacheTagsBytes', 'cacheTagsPlain'],
        ...['cacheStaleIfError', 'cacheStaleWhileRevalidate'],
        ...['defaultLimit', 'examples', 'maxLimit', 'maxOffset', 'minPositionWait', 'queryTimeLimit'],
        'readIndexRowCache',
        'searchLogDays',
        'workers',
      ].sort(),
    ],
    [
      'api',
      [
        'acceptLoss',
        ...['advertise', 'examples', 'queryTimeLimit', 'readIndexReplicas', 'readIndexShards'],
        ...['readyLagSeconds', 'uploadLimit', 'uploadTypes', 'workers'],
        'answerCacheBytes',
        ...['pastRows', 'pastWorlds', 'searchLogDays'],
        ...['login', 'jwtSecretFile', 'jwtExpires', 'jwtManagement', 'loginRateLimit', 'registerFields'],
        ...[
          'webhookHold',
          'webhookInFlight',
          'webhookKeep',
          'webhookRelated',
          'webhookRetry',
          'webhookTimeout',
        ],
        ...['purge', 'purgeAgain', 'purgeSoft', 'purgeToken'],
        ...['rehash', 'publicUrl', 'mail', 'mailFrom', 'pictureFormats', 'picturePixels'],
        ...[
          'followDeletions',
          'followFrom',
          'followInterval',
          'followRate',
          'followToken',
          'followTokenFile',
        ],
      ].sort(),
    ],
  ])('varve %s is without %j', (role, left) => {
    const missing = Object.keys(SERVE_SETTINGS).filter((name) => !(name in ROLE_SETTINGS[role]));
    expect(missing.sort()).toEqual(left);
  });
});

describe('several workers', () => {
  it.each([
    ['--read-index', { readIndex: 'http://127.0.0.1:9200' }],
    ['--event-store', { eventStore: 'sqlite:/tmp/events.db' }],
    ['--advertise', { advertise: 'http://10.0.0.7:1337' }],
    ['--follow', { follow: 'http://127.0.0.1:1338' }],
    ['--purge', { purge: 'varnish=http://127.0.0.1:6081' }],
  ])('are refused together with %s', (option, given) => {
    const parsed = parseServeSettings({ contentTypes: 'src', workers: '2', ...given });
    expect(() => refuseUnusable('serve', parsed)).toThrow(
      `--workers (VARVE_WORKERS) must be 1 together with ${option}, got 2`,
    );
    expect(() =>
      refuseUnusable('serve', { ...parsed, network: { ...parsed.network, workers: 1 } }),
    ).not.toThrow(/--workers/);
  });
});
