import { execFile, execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

/**
 * A real Elasticsearch for a test run. VARVE_TEST_ELASTICSEARCH names one that runs already; else infra/elasticsearch-local
 * starts a node, with the first test that asks for it, on a free port and with its data in a temporary folder.
 */
const LOCAL = fileURLToPath(new URL('../../infra/elasticsearch-local/', import.meta.url));
const OLDEST_JAVA = 21;

export type ElasticsearchPlan =
  | { readonly kind: 'running'; readonly url: string }
  | { readonly kind: 'node'; readonly port: number; readonly folder: string }
  | { readonly kind: 'none'; readonly why: string };

/** What this machine can offer. Starts nothing. */
export async function planElasticsearch(): Promise<ElasticsearchPlan> {
  const url = process.env['VARVE_TEST_ELASTICSEARCH'];
  if (url !== undefined && url !== '') return { kind: 'running', url: url.replace(/\/$/, '') };
  const missing = missingTool();
  if (missing !== undefined) return { kind: 'none', why: missing };
  const folder = mkdtempSync(join(tmpdir(), 'varve-elasticsearch-'));
  return { kind: 'node', port: await freePort(), folder };
}

function missingTool(): string | undefined {
  try {
    execFileSync('mvn', ['--version'], { stdio: 'ignore' });
  } catch {
    return 'Maven is not installed';
  }
  const { JAVA_HOME = '', ES_JAVA_HOME = '' } = process.env;
  const homes = [ES_JAVA_HOME, JAVA_HOME, ...folders('/usr/lib/jvm'), ...folders('/opt')];
  return homes.some((home) => javaVersion(home) >= OLDEST_JAVA)
    ? undefined
    : `no JDK ${OLDEST_JAVA} or newer is installed`;
}

function folders(parent: string): string[] {
  return existsSync(parent) ? readdirSync(parent).map((name) => join(parent, name)) : [];
}

function javaVersion(home: string): number {
  const javac = join(home, 'bin/javac');
  if (home === '' || !existsSync(javac)) return 0;
  const version = execFileSync(javac, ['--version'], { encoding: 'utf8' });
  return Number(/^javac (\d+)/.exec(version)?.[1] ?? 0);
}

export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}

/** `for tests`: at half of the processor time where there are few requests, and slower where it matters. Not where tests take minutes. */
export type ElasticsearchPurpose = 'for tests' | 'to be measured';

/** The node's address; started if it is not yet. Several processes may ask at once. */
export async function startElasticsearch(
  plan: ElasticsearchPlan,
  purpose: ElasticsearchPurpose,
): Promise<string> {
  if (plan.kind === 'none') throw new Error(`no Elasticsearch: ${plan.why}`);
  if (plan.kind === 'running') return plan.url;
  const { port, folder } = plan;
  const up = join(LOCAL, 'up.sh');
  const isShortLived = purpose === 'for tests' && process.env['VARVE_LONG_TESTS'] !== '1';
  const env = { ...process.env, ES_SHORT_LIVED: isShortLived ? '1' : '' };
  const args = [join(folder, 'up.lock'), up, String(port), join(folder, 'node')];
  await promisify(execFile)('flock', args, { env });
  return `http://127.0.0.1:${port}`;
}

/** Stops the node, if one was started, and removes its data. */
export function stopElasticsearch(plan: ElasticsearchPlan): void {
  if (plan.kind !== 'node') return;
  const node = join(plan.folder, 'node');
  if (existsSync(node)) execFileSync(join(LOCAL, 'down.sh'), [node]);
  rmSync(plan.folder, { recursive: true, force: true });
}
