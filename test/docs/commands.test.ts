import { execFile, spawn } from 'node:child_process';
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, type TestContext } from 'vitest';
import { elasticsearchUrl, whyNoElasticsearch } from '../support/elasticsearch.ts';
import { removeIndices } from '../support/remove-indices.ts';
import { takesMinutes } from '../support/takes-minutes.ts';

/** Runs every command of a `sh` block in the README, CONTRIBUTING.md and docs/, with other ports and folders. */
const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const DOCUMENTED_BASE = 'http://127.0.0.1:1337';
const ELASTICSEARCH = 'http://127.0.0.1:9200';
const space = `docs_${process.pid}`;
/** URL of this run's Elasticsearch. Absent until a command needs it. */
let elasticsearch: string | undefined;

/** Commands that would replace the installation of these tests, or run these tests. Only the existence of their scripts is checked. */
const SCRIPTS_ONLY = [
  'npm ci',
  'npm start',
  'npm test',
  'npm run test:unit',
  'npm run check',
  'npm run bench',
  'npm run conformance',
];

const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  readonly scripts: Readonly<Record<string, string>>;
};
const THROUGH_NPM = 'npm run --silent varve -- ';
let isNpmTried = false;

type Command = readonly [file: string, command: string];

const commands: readonly Command[] = [
  'README.md',
  'CONTRIBUTING.md',
  ...globSync('docs/**/*.md', { cwd: ROOT }),
].flatMap((file) =>
  shellBlocks(readFileSync(join(ROOT, file), 'utf8')).map((command) => [file, command] as const),
);
const scratch = mkdtempSync(join(tmpdir(), 'varve-docs-'));
/** Data directory of the documented server, and of commands that name none. */
const GUIDE = join(scratch, 'guide');
let server: Awaited<ReturnType<typeof startAsDocumented>>;

beforeAll(async () => {
  server = await startAsDocumented('npm start', { VARVE_PORT: '0', VARVE_DATA: GUIDE });
});
afterAll(async () => {
  await server?.stop();
  if (elasticsearch !== undefined) await removeIndices(elasticsearch, space);
  rmSync(scratch, { recursive: true, force: true });
});

describe('documented commands', () => {
  it('there are commands of each kind', () => {
    const all = commands.map(([, command]) => command);
    for (const start of [
      'npm ci',
      'npm start',
      'npm test',
      'curl -g',
      'curl -X POST',
      'npm run --silent varve',
    ]) {
      expect(
        all.filter((command) => command.startsWith(start)),
        start,
      ).not.toEqual([]);
    }
  });

  // The first command that needs Elasticsearch may wait until it is unpacked and started.
  const run = async ([, command]: Command, { skip }: TestContext) => {
    if (command.includes(ELASTICSEARCH)) {
      const why = await whyNoElasticsearch();
      skip(why !== undefined, why);
      elasticsearch ??= await elasticsearchUrl();
    }
    const script = SCRIPTS_ONLY.find((known) => command === known || command.startsWith(`${known} `));
    if (script !== undefined) expectScript(script);
    else if (command.startsWith('curl ')) await expectData(command);
    else if (/ varve -- (serve|project|api) /.test(command))
      await (await startAsDocumented(elsewhere(command), {})).stop();
    else await shell(elsewhere(command));
  };
  const inGuides = commands.filter(([file]) => !file.startsWith('docs/'));
  it.for(inGuides)('%s: %s', { timeout: 180_000 }, run);
  const inDocs = commands.filter(([file]) => file.startsWith('docs/'));
  it.for(inDocs)('%s: %s', { ...takesMinutes('the commands of docs/'), timeout: 180_000 }, run);

  it("the start-up message's request returns something", async () => {
    const request = /curl -g '[^']+'/.exec(server.output())?.[0];
    expect(request).toMatch(/filters\[\w+\]\[\w+\]/);
    await expectData(request ?? '');
  });
});

function expectScript(command: string): void {
  if (command !== 'npm ci') expect(Object.keys(scripts)).toContain(command.split(' ').at(-1));
}

async function expectData(command: string): Promise<void> {
  // A past that takes longer than 15 s to open is a 503 with Retry-After.
  const repeats = /asOf=|timegate/.test(command) ? ' --retry 10' : '';
  const { stdout } = await shell(
    command.replace('curl ', `curl --silent --fail${repeats} `).replace(DOCUMENTED_BASE, server.url),
  );
  const { data } = JSON.parse(stdout) as { data: object | readonly object[] };
  expect([data].flat().length).toBeGreaterThan(0);
}

/** Returns the command with a free port and a folder of this run. */
function elsewhere(documented: string): string {
  const command = withoutNpm(documented);
  const moved = command.replace(/--port \d+/, '--port 0').replaceAll('/tmp/', `${scratch}/`);
  if (elasticsearch === undefined || !command.includes(ELASTICSEARCH)) return moved;
  return `${moved.replace(ELASTICSEARCH, elasticsearch)} --space ${space}`;
}

/** Returns the command without npm, whose start takes as long as a short command. The first command and those with quotes keep npm. */
function withoutNpm(command: string): string {
  if (!command.startsWith(THROUGH_NPM)) return command;
  if (!isNpmTried || command.includes("'")) {
    isNpmTried = true;
    return command;
  }
  return command.replace(THROUGH_NPM, `${scripts['varve']} `);
}

function shell(command: string): Promise<{ stdout: string; stderr: string }> {
  return promisify(execFile)('bash', ['-c', command], {
    cwd: ROOT,
    env: { ...process.env, VARVE_DATA: GUIDE },
  });
}

/** Runs a command that starts a server. Resolves when it has printed its address. */
async function startAsDocumented(command: string, env: Readonly<Record<string, string>>) {
  const child = spawn('bash', ['-c', command], {
    cwd: ROOT,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    // In a separate process group, the signal reaches npm and the server below it.
    detached: true,
  });
  let output = '';
  const exited = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const url = await new Promise<string>((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text;
        const found = /Varve serves .* at (http:\S+)[\s\S]*Ctrl-C/.exec(output)?.[1];
        if (found !== undefined) resolve(found);
      });
    }
    child.once('close', () => reject(new Error(`${command} ended:\n${output}`)));
  });
  return {
    url,
    output: () => output,
    async stop() {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGTERM');
      await exited;
    },
  };
}

function shellBlocks(markdown: string): readonly string[] {
  return [...markdown.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].flatMap(([, block = '']) =>
    block
      .replaceAll('\\\n', ' ')
      .split('\n')
      .filter((line) => line.trim() !== ''),
  );
}
