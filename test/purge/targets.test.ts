import { expect, it } from 'vitest';
import {
  PURGE_SETTINGS,
  purgeAgainProblem,
  purgeChoice,
  purgeProblem,
} from '../../services/cli/settings/purge-settings.ts';
import { type PurgeKind, purgeRequests } from '../../services/purge/purge-target.ts';

const MANY = Array.from({ length: 1_700 }, (_, n) => `tag${n}abcdef`);
const HARD = { soft: false, token: 'a secret' };

function requests(
  kind: PurgeKind,
  address: string,
  style: { soft: boolean; token: string | undefined } = HARD,
) {
  return purgeRequests({ kind, address }, { names: MANY, plain: ['chefs', 'chefs:1'], position: 7n }, style);
}

it('purges Varnish by xkey, with headers of an accepted size', () => {
  const made = requests('varnish', 'http://10.0.0.1:6081/');
  const tags = made.map(({ headers }) => String(headers['xkey-purge']));
  expect(tags.flatMap((text) => text.split(' '))).toEqual(MANY);
  for (const text of tags) expect(text.length).toBeLessThanOrEqual(4_000);
  expect(made[0]).toMatchObject({ method: 'PURGE', headers: { authorization: 'Bearer a secret' } });
  const [soft] = requests('varnish', 'http://10.0.0.1:6081/', { soft: true, token: undefined });
  expect(Object.keys(soft?.headers ?? {})).toEqual(['xkey-softpurge']);
});

it('purges Fastly by surrogate keys, at most 256 at a time', () => {
  const made = requests('fastly', 'SU1Z0isxPaozGVKXdv0eY', { ...HARD, soft: true });
  expect(made.map(({ headers }) => String(headers['surrogate-key']).split(' ').length)).toEqual([
    ...Array(6).fill(256),
    164,
  ]);
  expect(made[0]).toMatchObject({
    url: 'https://api.fastly.com/service/SU1Z0isxPaozGVKXdv0eY/purge',
    headers: { 'fastly-key': 'a secret', 'fastly-soft-purge': '1' },
  });
});

it('purges Cloudflare by tags, at most 30 at a time', () => {
  const made = requests('cloudflare', '023e105f4ecef8ad9ca31a8372d0c353');
  expect(made.flatMap(({ body }) => (JSON.parse(body) as { tags: string[] }).tags)).toEqual(MANY);
  for (const { body } of made) expect(JSON.parse(body).tags.length).toBeLessThanOrEqual(30);
  expect(made[0]?.headers['authorization']).toBe('Bearer a secret');
});

it('posts tags and the position to a webhook, with plain names', () => {
  const made = requests('webhook', 'http://127.0.0.1/');
  const bodies = made.map(({ body }) => JSON.parse(body) as { tags: string[]; position: string });
  expect(bodies.flatMap(({ tags }) => tags)).toEqual([...MANY, 'chefs', 'chefs:1']);
  expect(bodies[0]?.position).toBe('7');
});

it.each([
  ['varnish=http://a:80,webhook=https://b/x,y', ['varnish', 'webhook']],
  ['fastly=abc', ['fastly']],
])('reads the receivers %s', (text, kinds) => {
  const read = PURGE_SETTINGS.purge.schema.parse(text);
  expect(read?.map(({ kind }) => kind)).toEqual(kinds);
});

it.each(['nothing', 'squid=http://a', 'varnish=a', 'webhook=http://me:secret@a/', 'fastly=a b'])(
  'refuses the receiver %s',
  (text) => {
    const read = PURGE_SETTINGS.purge.schema.safeParse(text);
    expect(read.success).toBe(false);
    expect(JSON.stringify(read.error?.issues)).not.toContain('a function');
  },
);

it.each([
  ['fastly', 'varnish=http://a/', 'must have fastly= or webhook= together with --cache-tags fastly'],
  ['fastly', 'varnish=http://a/,fastly=abc', undefined],
  ['netlify', 'fastly=abc', 'must have webhook= together with'],
  ['netlify', 'webhook=http://a/', undefined],
  ['none', 'varnish=http://a/', undefined],
] as const)('lets answers for %s be kept only if %s purges them', (cacheTags, text, problem) => {
  const purge = PURGE_SETTINGS.purge.schema.parse(text);
  if (problem === undefined) expect(purgeProblem({ cacheTags, purge })).toBeUndefined();
  else expect(purgeProblem({ cacheTags, purge })).toContain(problem);
});

it.each([
  ['embedded', undefined, [undefined, 2_000, 2_000, undefined]],
  ['embedded', '0', [undefined, undefined, undefined, undefined]],
  ['embedded', '500', [500, 500, 500, 500]],
  ['http://es/', undefined, [5_000, 5_000, 5_000, 5_000]],
  ['http://es/', '1m', [60_000, 60_000, 60_000, 60_000]],
])(
  'purges again, with %s and %s: in distant caches and with Elasticsearch by default',
  (readIndex, text, expected) => {
    const purge = PURGE_SETTINGS.purge.schema.parse(
      'varnish=http://a/,fastly=b,cloudflare=c,webhook=http://d/',
    );
    const purgeAgain = PURGE_SETTINGS.purgeAgain.schema.parse(text);
    const chosen = purgeChoice({ purge, purgeToken: undefined, purgeSoft: false, purgeAgain, readIndex });
    expect(chosen?.targets.map(({ againAfterMs }) => againAfterMs)).toEqual(expected);
  },
);

it('refuses a second purge that comes before answers of other processes', () => {
  const problemOf = (readIndex: string, purgeAgain: number | undefined) =>
    purgeAgainProblem({ readIndex, purgeAgain });
  expect(problemOf('http://es/', 4_999)).toBe(
    '--purge-again (VARVE_PURGE_AGAIN) must be at least 5s with Elasticsearch, got 4999ms: an answer of another process may be on its way to a cache for so long',
  );
  expect(problemOf('http://es/', 0)).toContain('got 0ms');
  expect([
    problemOf('http://es/', 5_000),
    problemOf('http://es/', undefined),
    problemOf('embedded', 0),
  ]).toEqual(Array(3).fill(undefined));
});

it.each(['soon', '11m', '-1', '5 s'])('refuses %s as the time of the second purge', (text) => {
  expect(PURGE_SETTINGS.purgeAgain.schema.safeParse(text).success).toBe(false);
});
