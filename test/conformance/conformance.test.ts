import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { type RunningServer, startServer } from '../support/server.ts';
import { takesMinutes } from '../support/takes-minutes.ts';
import { AS_RECORDED, DISPUTED, runCorpus, startLoadedServer } from './run-corpus.ts';

type Report = {
  readonly passed: number;
  readonly failed: number;
  readonly table: Readonly<Record<string, { readonly passed: number; readonly failed: number }>>;
  readonly failures: readonly {
    readonly id: string;
    readonly area: string;
    readonly bad: readonly string[];
  }[];
};

/** Every case of the visible part of the corpus, as `run.mjs` counts them in its default mode. */
const CASES = readCases();

describe('the recorded answers of Strapi 5', () => {
  let server: RunningServer;
  let report: Report;

  beforeAll(async () => {
    server = await startLoadedServer();
    const folder = mkdtempSync(join(tmpdir(), 'varve-corpus-'));
    const file = join(folder, 'report.json');
    await runCorpus(server.url, ['--json', file, '--max', '0'], 'collect');
    report = JSON.parse(readFileSync(file, 'utf8')) as Report;
    rmSync(folder, { recursive: true });
  }, 300_000);

  afterAll(() => server?.dispose());

  it.each([...CASES])('%s: all of %i cases', (area, count) => {
    const failed = report.failures.filter((failure) => failure.area === area);
    expect(failed.map(({ id, bad }) => `${id}: ${bad.join('; ')}`)).toEqual([]);
    expect(report.table[area]).toEqual({ passed: count, failed: 0 });
  });

  it(
    'are the same byte for byte after a rebuild of the graph from the log',
    takesMinutes('the corpus from another graph'),
    async () => {
      const paths = readGetPaths();
      expect(paths.length).toBeGreaterThan(2000);
      const before = await answersTo(server.url, paths);
      expect(await server.stop()).toMatchObject({ code: 0 });
      for (const name of graphFiles(server.data)) rmSync(join(server.data, name));
      const rebuilt = await startServer({ data: server.data, env: AS_RECORDED });
      onTestFinished(() => rebuilt.dispose());
      const after = await answersTo(rebuilt.url, paths);
      expect(paths.filter((_path, index) => after[index] !== before[index])).toEqual([]);
    },
  );

  it('has at most ten disputed cases', () => {
    expect(Object.keys(readDisputed()).length).toBeLessThanOrEqual(10);
  });
});

function readDisputed(): Readonly<Record<string, string>> {
  return JSON.parse(readFileSync(DISPUTED, 'utf8')) as Record<string, string>;
}

/** Returns the number of cases by area, without those that are disputed or have no wanted answer. */
function readCases(): ReadonlyMap<string, number> {
  const disputed = readDisputed();
  const counts = new Map<string, number>();
  for (const corpusCase of readCorpus()) {
    if (corpusCase.id in disputed || !isWanted(corpusCase)) continue;
    counts.set(corpusCase.area, (counts.get(corpusCase.area) ?? 0) + 1);
  }
  return counts;
}

function readCorpus(): readonly CorpusCase[] {
  return ['cases-visible.jsonl', 'random-visible.jsonl'].flatMap((file) =>
    readFileSync(new URL(file, import.meta.url), 'utf8')
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as CorpusCase),
  );
}

/** Returns the GET requests of the corpus that do not contain ids of a recording. */
function readGetPaths(): readonly string[] {
  return readCorpus()
    .flatMap(({ request }) => (request?.method === 'GET' ? [request.path] : []))
    .filter((path) => !path.includes('{{'));
}

async function answersTo(base: string, paths: readonly string[]): Promise<readonly string[]> {
  const answers: string[] = [];
  for (let at = 0; at < paths.length; at += 8) {
    const batch = paths.slice(at, at + 8).map(async (path) => {
      const answer = await fetch(base + path);
      return `${answer.status} ${await answer.text()}`;
    });
    answers.push(...(await Promise.all(batch)));
  }
  return answers;
}

function graphFiles(data: string): readonly string[] {
  const files = readdirSync(data).filter((name) => name.startsWith('graph.db'));
  expect(files).toContain('graph.db');
  return files;
}

type Expectation = { readonly better?: unknown; readonly recorded?: unknown };
type CorpusCase = Expectation & {
  readonly id: string;
  readonly area: string;
  readonly quirk?: string;
  readonly request?: { readonly method: string; readonly path: string };
  readonly steps?: readonly Expectation[];
};

/** Returns true if a case has a wanted answer. Some cases only record a defect of Strapi. */
function isWanted(corpusCase: CorpusCase): boolean {
  if (corpusCase.quirk === undefined) return true;
  return [corpusCase, ...(corpusCase.steps ?? [])].some((step) => step.better ?? step.recorded);
}
