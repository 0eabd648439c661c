import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const LOCAL = fileURLToPath(new URL('../../infra/elasticsearch-local/', import.meta.url));
/** Below the ports that the operating system gives to connections. */
const FIRST_PORT = 19_202;
const START_MS = '240';

/** The cluster removes a node that is silent for some five seconds. By default it takes half a minute. A busy machine may need two. */
const SETTINGS = ['follower_check', 'leader_check']
  .flatMap((check) => [`${check}.timeout: 2s`, `${check}.interval: 1s`, `${check}.retry_count: 2`])
  .map((setting) => `cluster.fault_detection.${setting}`)
  .join('\n');

/** A node of a cluster of its own, which a test may kill or pause. */
export type ElasticsearchNode = {
  readonly url: string;
  /** Name in the cluster. */
  readonly name: string;
  signal(signal: NodeJS.Signals): void;
  /** Starts it again with its data, after it was killed. Resolves when it answers. */
  start(): Promise<void>;
};

/** A cluster of several nodes. */
export type ElasticsearchNodes = {
  readonly nodes: readonly ElasticsearchNode[];
  stop(): Promise<void>;
};

/** Starts a cluster with so many nodes, each with a small heap. */
export async function startElasticsearchNodes(count: number): Promise<ElasticsearchNodes> {
  const folder = mkdtempSync(join(tmpdir(), 'varve-nodes-'));
  const ports = await freePorts(count);
  const env = {
    ...process.env,
    ES_NODES: ports.join(' '),
    ES_HEAP: '512m',
    ES_SHORT_LIVED: '1',
    ES_WAIT: START_MS,
    ES_SETTINGS: SETTINGS,
    ES_REPO: join(folder, 'repo'),
  };
  const nodes = ports.map((port): ElasticsearchNode => {
    const data = join(folder, String(port));
    return {
      url: `http://127.0.0.1:${port}`,
      name: `n${port}`,
      signal: (signal) => void process.kill(Number(readFileSync(join(data, 'pid'), 'utf8')), signal),
      async start() {
        await promisify(execFile)(join(LOCAL, 'up.sh'), [String(port), data], { env });
      },
    };
  });
  const stop = async () => {
    for (const { signal } of nodes) {
      try {
        signal('SIGKILL');
      } catch {
        // It does not run.
      }
    }
    rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
  };
  try {
    await Promise.all(nodes.map((node) => node.start()));
  } catch (error) {
    await stop();
    throw error;
  }
  return { nodes, stop };
}

/** Returns free ports. The port after each is also free, for the nodes among themselves. */
async function freePorts(count: number): Promise<readonly number[]> {
  const found: number[] = [];
  for (let port = FIRST_PORT; found.length < count; port += 2)
    if ((await isFree(port)) && (await isFree(port + 1))) found.push(port);
  return found;
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  const isListening = await new Promise<boolean>((resolve) => {
    server.once('error', () => resolve(false)).listen(port, '127.0.0.1', () => resolve(true));
  });
  if (isListening) await new Promise((resolve) => server.close(resolve));
  return isListening;
}
