import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createElasticsearchAdmin, type ElasticsearchAdmin } from '../support/elasticsearch-admin.ts';
import { type ElasticsearchProxy, startElasticsearchProxy } from '../support/elasticsearch-proxy.ts';
import { leaderOf, type Member, startMember } from '../support/fleet.ts';
import { removeIndices } from '../support/remove-indices.ts';

/** A process of the fleet, with a proxy of its own in front of Elasticsearch. */
export type Process = Member & { readonly proxy: ElasticsearchProxy };

/** Roles at the beginning of a fault. */
export type Roles = { readonly leader: Process; readonly standby: Process; readonly api: Process };

/** Two `varve serve` and a `varve api` on one log and a real Elasticsearch, which all faults of a file share. */
export type FaultFleet = {
  readonly all: readonly Process[];
  readonly admin: ElasticsearchAdmin;
  readonly space: string;
  readonly eventStore: string;
  /** Folder of the log. */
  readonly folder: string;
  roles(): Promise<Roles>;
  dispose(): Promise<void>;
};

/** Starts the fleet on the node at `url`. */
export async function startFaultFleet(url: string, space: string): Promise<FaultFleet> {
  const folder = mkdtempSync(join(tmpdir(), 'varve-faults-'));
  const eventStore = `sqlite:${join(folder, 'events.db')}`;
  const admin = await createElasticsearchAdmin(url, space);
  const start = async (name: string, role: 'serve' | 'api'): Promise<Process> => {
    const proxy = await startElasticsearchProxy(url);
    const log = ['--event-store', eventStore, '--assets', join(folder, 'assets')];
    const index = ['--read-index', proxy.url, '--space', space, '--body-limit', '60000000'];
    const member = await startMember(name, { role, data: join(folder, name), arguments: [...log, ...index] });
    return { ...member, proxy };
  };
  // The api waits for a leader itself.
  const [first, second, api] = await Promise.all([
    start('s1', 'serve'),
    start('s2', 'serve'),
    start('api', 'api'),
  ]);
  const all = [first, second, api];
  return {
    all,
    admin,
    space,
    eventStore,
    folder,
    async roles() {
      const leader = (await leaderOf([first, second])) as Process;
      return { leader, standby: leader === first ? second : first, api };
    },
    async dispose() {
      await Promise.all(all.map((each) => each.end('SIGKILL')));
      for (const { proxy } of all) proxy.close();
      await removeIndices(url, space);
      await admin.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
