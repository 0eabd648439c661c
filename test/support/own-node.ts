import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type ElasticsearchPurpose,
  freePort,
  startElasticsearch,
  stopElasticsearch,
} from './elasticsearch-node.ts';

/** An Elasticsearch of one test, which the test can kill. */
export type OwnNode = {
  readonly url: string;
  /** Kills the process at once, like `kill -9`. */
  kill(): void;
  /** Starts the node again on its data. */
  start(): Promise<void>;
  /** Stops the node if it runs, and removes its data. */
  dispose(): void;
};

/** Starts a node. Resolves when it answers. `settings`: further lines of elasticsearch.yml. */
export async function startOwnNode(
  settings = '',
  purpose: ElasticsearchPurpose = 'for one test',
): Promise<OwnNode> {
  const folder = mkdtempSync(join(tmpdir(), 'varve-own-node-'));
  const plan = { kind: 'node', port: await freePort(), folder } as const;
  const env = { ...process.env, ES_SETTINGS: settings };
  const url = await startElasticsearch(plan, purpose, env);
  return {
    url,
    kill: () => void process.kill(Number(readFileSync(join(folder, 'node/pid'), 'utf8')), 'SIGKILL'),
    start: async () => void (await startElasticsearch(plan, purpose, env)),
    dispose: () => stopElasticsearch(plan),
  };
}
