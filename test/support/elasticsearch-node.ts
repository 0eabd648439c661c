import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runOnce } from './run-once.ts';

/** A start takes 25 s of a core. At a load of 33 it took more than the default of up.sh. */
const WAIT_SECONDS = '900';
const LOCAL = fileURLToPath(new URL('../../infra/elasticsearch-local/', import.meta.url));

/**
 * Source of a run's real Elasticsearch. A node starts for the first suite that needs it, on a free port, with its data
 * in `folder`.
 */
export type ElasticsearchPlan =
  | { readonly kind: 'running'; readonly url: string }
  | { readonly kind: 'node'; readonly port: number; readonly folder: string }
  | { readonly kind: 'none'; readonly why: string };

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Returns the Elasticsearch that a run may use. VARVE_TEST_ELASTICSEARCH=URL names a running one. `local` and
 * VARVE_REQUIRE_ELASTICSEARCH=1 download one if necessary. By default, a run uses one only if it was downloaded before.
 */
export function chooseElasticsearch(
  env: Environment,
  isFetched: boolean,
): { readonly kind: 'node' } | Exclude<ElasticsearchPlan, { kind: 'node' }> {
  const asked = env['VARVE_TEST_ELASTICSEARCH'] ?? '';
  if (asked !== '' && asked !== 'local') return { kind: 'running', url: asked.replace(/\/$/, '') };
  if (asked === 'local' || isFetched || isElasticsearchRequired(env)) return { kind: 'node' };
  return {
    kind: 'none',
    why: 'no Elasticsearch has been fetched yet: VARVE_TEST_ELASTICSEARCH=local fetches one and starts it',
  };
}

/** Returns true in CI, where an Elasticsearch that cannot be started is a failure. */
export function isElasticsearchRequired(env: Environment): boolean {
  return env['VARVE_REQUIRE_ELASTICSEARCH'] === '1';
}

/** Returns the plan for this machine. Starts nothing. */
export async function planElasticsearch(env: Environment = process.env): Promise<ElasticsearchPlan> {
  const chosen = chooseElasticsearch(env, isFetched(env));
  if (chosen.kind !== 'node') return chosen;
  const folder = mkdtempSync(join(tmpdir(), 'varve-elasticsearch-'));
  return { kind: 'node', port: await freePort(), folder };
}

/** Returns true if Elasticsearch was downloaded completely: up.sh writes the plugin's descriptor last. */
function isFetched(env: Environment): boolean {
  const cache = env['ES_CACHE'] ?? join(LOCAL, 'target');
  const names = existsSync(cache) ? readdirSync(cache) : [];
  return names.some((name) =>
    existsSync(join(cache, name, 'plugins/root-info/plugin-descriptor.properties')),
  );
}

export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}

/**
 * `for tests`: a node with settings that save CPU time but make it slower under load. They are not used in runs of all
 * long tests, whose node runs for an hour. `for one test`: a node with these settings also there, since it starts often.
 */
export type ElasticsearchPurpose = 'for tests' | 'for one test' | 'to be measured';

/**
 * Returns the node's address, and starts the node if it does not run yet. Several processes may call this at once. Throws
 * the message of up.sh in one line.
 */
export async function startElasticsearch(
  plan: ElasticsearchPlan,
  purpose: ElasticsearchPurpose,
  given: Environment = process.env,
): Promise<string> {
  if (plan.kind === 'none') throw new Error(plan.why);
  if (plan.kind === 'running') return plan.url;
  const { port, folder } = plan;
  const env = { ES_WAIT: WAIT_SECONDS, ...given, ES_SHORT_LIVED: isShortLived(purpose) ? '1' : '' };
  await runOnce(join(folder, 'up'), [join(LOCAL, 'up.sh'), String(port), join(folder, 'node')], env);
  return `http://127.0.0.1:${port}`;
}

function isShortLived(purpose: ElasticsearchPurpose): boolean {
  return purpose === 'for one test' || (purpose === 'for tests' && process.env['VARVE_LONG_TESTS'] !== '1');
}

/** Stops the node, if one was started, and removes its data. */
export function stopElasticsearch(plan: ElasticsearchPlan): void {
  if (plan.kind !== 'node') return;
  const node = join(plan.folder, 'node');
  if (existsSync(node)) execFileSync(join(LOCAL, 'down.sh'), [node]);
  rmSync(plan.folder, { recursive: true, force: true });
}
