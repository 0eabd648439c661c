import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { whyNoBrowser } from '../support/chromium.ts';
import { chooseElasticsearch, planElasticsearch, startElasticsearch } from '../support/elasticsearch-node.ts';
import { takesMinutes } from '../support/takes-minutes.ts';

/** Tests `npm test` on machines that lack something: it fetches nothing, and a skip says what is missing. */
describe('the Elasticsearch of a test run', () => {
  const none = { kind: 'none', why: expect.stringContaining('VARVE_TEST_ELASTICSEARCH=local') };
  const rows = [
    { asked: 'nothing', env: {}, isFetched: false, chosen: none },
    { asked: 'nothing', env: { VARVE_TEST_ELASTICSEARCH: '' }, isFetched: false, chosen: none },
    { asked: 'nothing', env: {}, isFetched: true, chosen: { kind: 'node' } },
    {
      asked: 'local',
      env: { VARVE_TEST_ELASTICSEARCH: 'local' },
      isFetched: false,
      chosen: { kind: 'node' },
    },
    {
      asked: 'one that runs',
      env: { VARVE_TEST_ELASTICSEARCH: 'http://127.0.0.1:9200/' },
      isFetched: true,
      chosen: { kind: 'running', url: 'http://127.0.0.1:9200' },
    },
    { asked: 'as CI', env: { VARVE_REQUIRE_ELASTICSEARCH: '1' }, isFetched: false, chosen: { kind: 'node' } },
  ];
  it.each(rows)(
    'with $asked requested and fetched: $isFetched, is $chosen.kind',
    ({ env, isFetched, chosen }) => {
      expect(chooseElasticsearch(env, isFetched)).toEqual(chosen);
    },
  );
});

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'varve-machine-'));
  folders.push(folder);
  return folder;
}

function writeProgram(file: string, lines: string): void {
  writeFileSync(file, `#!/bin/sh\n${lines}\n`);
  chmodSync(file, 0o755);
}

const TOOLS = [
  'bash',
  'sh',
  'cat',
  'cut',
  'dirname',
  'flock',
  'grep',
  'mkdir',
  'mktemp',
  'mv',
  'rm',
  'sed',
  'sha256sum',
  'tail',
];

/** Paths of the tools that this machine has. */
const PRESENT = spawnSync('sh', ['-c', `for tool in ${TOOLS.join(' ')}; do command -v "$tool"; done`], {
  encoding: 'utf8',
})
  .stdout.trim()
  .split('\n');

/** Returns the environment of a machine with only these tools and `programs`. Its JDK is only found by ES_JAVA_HOME. */
function cutDown(programs: { readonly javac?: string; readonly mvn?: string }): NodeJS.ProcessEnv {
  const folder = newFolder();
  for (const made of ['bin', 'jdk/bin', 'cache']) mkdirSync(join(folder, made), { recursive: true });
  for (const tool of PRESENT) symlinkSync(tool, join(folder, 'bin', basename(tool)));
  if (programs.mvn !== undefined) writeProgram(join(folder, 'bin/mvn'), programs.mvn);
  if (programs.javac !== undefined) writeProgram(join(folder, 'jdk/bin/javac'), programs.javac);
  return {
    PATH: join(folder, 'bin'),
    ES_CACHE: join(folder, 'cache'),
    ES_JDKS: join(folder, 'jdk'),
    VARVE_TEST_ELASTICSEARCH: 'local',
  };
}

async function whyNotStarted(env: NodeJS.ProcessEnv): Promise<string> {
  const plan = await planElasticsearch(env);
  if (plan.kind === 'node') folders.push(plan.folder);
  return startElasticsearch(plan, 'for tests', env).then(
    () => 'it started',
    (error: Error) => error.message,
  );
}

describe('a machine that cannot start the requested program', () => {
  const javac = 'echo javac 21.0.5';

  it('names the JDK if there is no Java', async () => {
    expect(await whyNotStarted(cutDown({}))).toBe(
      'no JDK 21 or newer found: install one or set ES_JAVA_HOME',
    );
  });

  it('names the JDK if it is too old', takesMinutes('what a machine lacks'), async () => {
    const old = cutDown({ javac: 'echo javac 17.0.1' });
    expect(await whyNotStarted(old)).toMatch(/^no JDK 21 or newer found/);
  });

  it('names Maven if there is only Java', takesMinutes('what a machine lacks'), async () => {
    expect(await whyNotStarted(cutDown({ javac }))).toMatch(
      /^Maven \(mvn\) is not installed: it fetches Elasticsearch [\d.]+$/,
    );
  });

  it('reports the output of Maven if there is no network', takesMinutes('what a machine lacks'), async () => {
    const mvn = `printf '\\033[0m'; echo '[ERROR] Could not transfer artifact x: Unknown host repo.maven.apache.org -> [Help 1]'
      echo '[ERROR] To see the full stack trace, re-run Maven with -e'; exit 1`;
    expect(await whyNotStarted(cutDown({ javac, mvn }))).toMatch(
      /^Maven cannot fetch Elasticsearch [\d.]+: Could not transfer artifact x: Unknown host repo\.maven\.apache\.org$/,
    );
  });

  it('tries once and gives all callers the same answer', async () => {
    const counts = join(newFolder(), 'tries');
    const env = cutDown({ javac, mvn: `echo tried >> ${counts}; exit 1` });
    const plan = await planElasticsearch(env);
    if (plan.kind === 'node') folders.push(plan.folder);
    const start = () => startElasticsearch(plan, 'for tests', env).catch((error: Error) => error.message);
    const [first, second] = await Promise.all([start(), start()]);
    expect(first).toMatch(/^Maven cannot fetch Elasticsearch/);
    expect(second).toBe(first);
    expect(spawnSync('cat', [counts], { encoding: 'utf8' }).stdout).toBe('tried\n');
  });
});

describe('the browser of a test run', () => {
  it('is reported in one line if it is missing', () => {
    expect(whyNoBrowser({}, '/nowhere/chromium')).toBe(
      '/nowhere/chromium is not there: apt-get install chromium',
    );
  });

  it('is reported if it does not run', () => {
    const broken = join(newFolder(), 'chromium');
    writeProgram(broken, 'echo first >&2; echo requires the chromium snap >&2; exit 1');
    expect(whyNoBrowser({}, broken)).toBe(`${broken} does not run: requires the chromium snap`);
  });

  it('is required in CI', () => {
    expect(whyNoBrowser({ VARVE_REQUIRE_CHROMIUM: '1' }, '/nowhere/chromium')).toBeUndefined();
  });
});
