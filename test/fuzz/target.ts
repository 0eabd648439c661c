import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type DataSize, importDataSet } from '../bench/bench-data.ts';
import { AS_RECORDED, loadFixtures } from '../conformance/run-corpus.ts';
import { CHEAP_PASSWORDS } from '../login/login-server.ts';
import { createAsk, createTokenOver } from '../support/access-client.ts';
import { startElasticsearchFleet } from '../support/elasticsearch-fleet.ts';
import { removeIndices } from '../support/remove-indices.ts';
import { S3_CREDENTIALS, startS3Double } from '../support/s3-double.ts';
import { createDataDirectory, type RunningServer, startServer } from '../support/server.ts';
import { ALLOWED, SECRETS } from './leaks.ts';
import type { FuzzMaterial } from './requests.ts';

export type FuzzTarget = {
  /** URL of the server that gets the inputs. */
  readonly url: string;
  readonly material: FuzzMaterial;
  /** Descriptions of processes that ended by themselves, with their last output. */
  ended(): readonly string[];
  /** Lines with level error or fatal in the processes' logs. */
  faults(): readonly string[];
  dispose(): Promise<void>;
};

export type TargetOptions = {
  readonly readIndex: string | undefined;
  readonly fleet: boolean;
  readonly s3: boolean;
  /** Adds the data set of the benchmark in this size. */
  readonly bench: DataSize | undefined;
};

/** Users sign in, with passwords that cost little, and every form is answered. */
const LOGIN = ['--login', '--mail', 'console', '--login-rate-limit', '0'];
const ENV = { ...AS_RECORDED, ...CHEAP_PASSWORDS };

const CORPUS = ['cases-visible.jsonl', 'random-visible.jsonl'];

/** Starts a server, or a fleet, with content of which only callers with full access may see all. */
export async function startTarget(options: TargetOptions): Promise<FuzzTarget> {
  const data = createDataDirectory();
  const double = options.s3 ? await startS3Double() : undefined;
  const assets = double === undefined ? [] : ['--assets', double.address];
  const env = { ...ENV, ...(double === undefined ? {} : S3_CREDENTIALS) };
  const embedded = await startServer({ data, env, arguments: ['--space', space, ...LOGIN, ...assets] });
  const clear = async () => {
    await double?.close();
    rmSync(data, { recursive: true, force: true });
  };
  try {
    const material = await fillTarget(embedded.url);
    if (options.bench !== undefined) {
      await embedded.stop();
      addBenchData(data, options.bench);
    }
    const started = await startOn(options, data, embedded);
    return watch(started, material, clear);
  } catch (error) {
    await embedded.dispose();
    await clear();
    throw error;
  }
}

async function fillTarget(url: string): Promise<FuzzMaterial> {
  await loadFixtures(url);
  const full = await createTokenOver(createAsk(url), { name: 'full', type: 'full-access' });
  const ask = createAsk(url, full);
  const site = await createTokenOver(ask, { name: 'site', type: 'custom', allow: ALLOWED });
  expectStatus(await ask('/_varve/public', { method: 'PUT', body: { data: { allow: ALLOWED } } }), 200);
  const switches = { allow_register: true, email_reset_password: 'https://example.org/reset' };
  expectStatus(await ask('/_varve/login', { method: 'PUT', body: { data: switches } }), 200);
  const tokens = { anonymous: undefined, site, full };
  const urls = corpusUrls();
  const openUrls = urls.filter((path) => /^\/api\/(restaurants|tags|articles)\b/.test(path));
  const hidden = await hideSecrets(url, full);
  const syncTokens = {
    anonymous: await syncTokenOf(createAsk(url)),
    site: await syncTokenOf(createAsk(url, site)),
    full: await syncTokenOf(ask),
  };
  return { ...hidden, urls, openUrls, tokens, syncTokens };
}

async function syncTokenOf(ask: ReturnType<typeof createAsk>): Promise<string> {
  const answer = await ask('/api/_changes?limit=1000');
  expectStatus(answer, 200);
  return answer.body.meta.next;
}

function watch(
  { url, processes, dispose }: Processes,
  material: FuzzMaterial,
  clear: () => Promise<void>,
): FuzzTarget {
  let isOver = false;
  const ends: string[] = [];
  for (const { exited } of processes)
    exited.then(({ code, signal, output }) => {
      if (!isOver) ends.push(`a process ended with ${code ?? signal}: ${output.slice(-2_000)}`);
    });
  return {
    ...{ url, material },
    ended: () => ends,
    faults: () =>
      processes.flatMap(({ output }) =>
        output()
          .split('\n')
          .filter((line) => /"level":[56]0/.test(line)),
      ),
    async dispose() {
      isOver = true;
      await dispose();
      await clear();
    },
  };
}

type Process = {
  readonly exited: Promise<{
    readonly code: number | null;
    readonly signal: string | null;
    readonly output: string;
  }>;
  output(): string;
};
type Processes = {
  readonly url: string;
  readonly processes: readonly Process[];
  dispose(): Promise<void>;
};

const space = `fuzz_${process.pid}`;

/** A time limit that reads of the benchmark's data set cross. They also cross the limit of populated rows, which is 20,000. */
const SMALL_BUDGETS = ['--space', space, '--query-time-limit', '100'];

function addBenchData(data: string, size: DataSize): void {
  const scratch = mkdtempSync(join(tmpdir(), 'varve-fuzz-'));
  importDataSet(data, scratch, size, { settings: ['--space', space], rewrite: renameCountries });
  rmSync(scratch, { recursive: true });
}

/** The codes of countries are unique, and the fixtures have some of them. */
function renameCountries(folder: string): void {
  const file = join(folder, 'country.jsonl');
  writeFileSync(file, readFileSync(file, 'utf8').replace(/"code":"(..)"/g, '"code":"$1~"'));
}

/** Starts the server or fleet on loaded data. The data was loaded with the embedded index, which is faster than with Elasticsearch. */
async function startOn(
  { readIndex, fleet, bench }: TargetOptions,
  data: string,
  embedded: RunningServer,
): Promise<Processes> {
  if (readIndex === undefined) {
    if (fleet) throw new Error('--fleet reads from Elasticsearch: name one with --read-index');
    const server =
      bench !== undefined
        ? await startServer({ data, env: ENV, arguments: [...SMALL_BUDGETS, ...LOGIN] })
        : embedded;
    return { url: server.url, processes: [server], dispose: server.dispose };
  }
  await embedded.stop();
  if (fleet) {
    const eventStore = `sqlite:${join(data, 'events.db')}`;
    const size = { url: readIndex, space, projects: 1, apis: 1 };
    const running = await startElasticsearchFleet({ ...size, env: AS_RECORDED, eventStore });
    const processes = [...running.apis, ...running.projects].map((member) => member.server());
    return { url: running.apis[0]?.server().url ?? '', processes, dispose: running.dispose };
  }
  const args = ['--read-index', readIndex, '--space', space, ...LOGIN];
  const server = await startServer({ data, env: ENV, arguments: args });
  return {
    ...{ url: server.url, processes: [server] },
    async dispose() {
      await server.dispose();
      await removeIndices(readIndex, space);
    },
  };
}

/** Writes the secret texts into drafts, private values and documents of other types. */
async function hideSecrets(url: string, token: string) {
  const ask = createAsk(url, token);
  const write = async (method: string, path: string, data: object) => {
    const answer = await ask(path, { method, body: { data } });
    expectStatus(answer, method === 'POST' ? 201 : 200);
    return answer.body.data.documentId as string;
  };
  const documentIds: string[] = [];
  const writableIds: string[] = [];
  for (let n = 0; n < 5; n++) {
    const chef = await write('POST', '/api/chefs', {
      key: `secret${n}`,
      name: SECRETS.forbidden,
      bio: SECRETS.forbidden,
    });
    const tag = await write('POST', '/api/tags', { key: `fuzz${n}`, name: 'open' });
    writableIds.push(await write('POST', '/api/restaurants', { key: `plain${n}`, name: 'plain' }), tag);
    const parent = documentIds.at(-4);
    const shared = {
      key: `fuzz${n}`,
      internalNote: SECRETS.private,
      chef,
      tags: [tag],
      ...(parent && { parent }),
    };
    const id = await write('POST', '/api/restaurants', { ...shared, name: `open ${n}` });
    // Writes a draft that differs from the published version, and a document that is only a draft.
    await write('PUT', `/api/restaurants/${id}?status=draft`, {
      name: SECRETS.draft,
      description: SECRETS.draft,
    });
    const draft = { ...shared, key: `draft${n}`, name: SECRETS.draft, parent: id };
    documentIds.push(id, await write('POST', '/api/restaurants?status=draft', draft), chef, tag);
    await write('POST', '/api/articles?status=draft', {
      key: `draft${n}`,
      title: SECRETS.draft,
      featured: [id],
    });
  }
  const form = new FormData();
  form.append('files', new Blob(['a file'], { type: 'text/plain' }), 'a.txt');
  const upload = await ask('/api/upload', { method: 'POST', body: form });
  expectStatus(upload, 201);
  const files = (upload.body as readonly { url: string }[]).map((file) => file.url.replace('/uploads/', ''));
  return { documentIds, writableIds, files };
}

function corpusUrls(): readonly string[] {
  return CORPUS.flatMap((name) =>
    readFileSync(new URL(`../conformance/${name}`, import.meta.url), 'utf8')
      .split('\n')
      .filter((line) => line.includes('"path"'))
      .flatMap((line) => {
        const { request } = JSON.parse(line) as { request?: { path?: string } };
        return request?.path === undefined || request.path.length > 4_000 ? [] : [request.path];
      }),
  );
}

function expectStatus(
  { status, body }: { readonly status: number; readonly body: unknown },
  wanted: number,
): void {
  if (status !== wanted) throw new Error(`${status} instead of ${wanted}: ${JSON.stringify(body)}`);
}
