import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { elasticsearchUrl } from '../support/elasticsearch.ts';
import { createElasticsearchAdmin, type ElasticsearchAdmin } from '../support/elasticsearch-admin.ts';
import type { ElasticsearchNode, ElasticsearchNodes } from '../support/elasticsearch-nodes.ts';
import {
  type ElasticsearchProxy,
  joinProxies,
  startElasticsearchProxy,
} from '../support/elasticsearch-proxy.ts';
import { leaderOf, type Member, startMember } from '../support/fleet.ts';
import { removeIndices } from '../support/remove-indices.ts';
import { mountSmallDisk, type SmallDisk } from '../support/small-disk.ts';

/** A process of the fleet, with proxies of its own in front of the nodes of Elasticsearch. */
export type Process = Member & {
  readonly proxy: ElasticsearchProxy;
  /** File system of its data directory; undefined: the usual one. */
  readonly disk: SmallDisk | undefined;
};

/** Roles at the beginning of a fault. */
export type Roles = { readonly leader: Process; readonly standby: Process; readonly api: Process };

/** Two `varve serve` and a `varve api` on one log and a real Elasticsearch, which all faults of a file share. */
export type FaultFleet = {
  readonly all: readonly Process[];
  readonly admin: ElasticsearchAdmin;
  readonly space: string;
  readonly eventStore: string;
  /** File system of the log; undefined: the usual one. */
  readonly disk: SmallDisk | undefined;
  /** Nodes of its cluster; empty: the fleet uses the node of the run. */
  readonly nodes: readonly ElasticsearchNode[];
  roles(): Promise<Roles>;
  dispose(): Promise<void>;
};

const MEGABYTES = 96;

/** Where a fleet runs. */
export type FaultPlace = {
  /** True: each data directory and the log are on a file system of their own. */
  readonly hasSmallDisks?: boolean;
  /** Cluster that it uses. Absent: the node of the run. */
  readonly cluster?: ElasticsearchNodes | undefined;
};

/** Starts the fleet. */
export async function startFaultFleet(space: string, place: FaultPlace = {}): Promise<FaultFleet> {
  const { cluster } = place;
  const urls = cluster?.nodes.map((node) => node.url) ?? [await elasticsearchUrl()];
  const url = urls[0] as string;
  const folder = mkdtempSync(join(tmpdir(), 'varve-faults-'));
  const mount = () => (place.hasSmallDisks === true ? mountSmallDisk(MEGABYTES) : undefined);
  const disk = mount();
  const eventStore = `sqlite:${join(disk?.path ?? folder, 'events.db')}`;
  const admin = await createElasticsearchAdmin(url, space, urls.slice(1));
  const start = async (name: string, role: 'serve' | 'api'): Promise<Process> => {
    const proxy = joinProxies(await Promise.all(urls.map((each) => startElasticsearchProxy(each))));
    const own = mount();
    const log = ['--event-store', eventStore, '--assets', join(folder, 'assets')];
    const index = ['--read-index', proxy.url, '--space', space, '--body-limit', '60000000'];
    const data = join(own?.path ?? folder, name);
    const member = await startMember(name, { role, data, arguments: [...log, ...index] });
    return { ...member, proxy, disk: own };
  };
  // The api waits for a leader itself.
  const started = [start('s1', 'serve'), start('s2', 'serve'), start('api', 'api')] as const;
  const [one, two, api] = await Promise.all(started);
  const all = [one, two, api];
  return {
    all,
    admin,
    space,
    eventStore,
    disk,
    nodes: cluster?.nodes ?? [],
    async roles() {
      const leader = (await leaderOf([one, two])) as Process;
      return { leader, standby: leader === one ? two : one, api };
    },
    async dispose() {
      await Promise.all(all.map((each) => each.end('SIGKILL')));
      for (const each of all) each.proxy.close();
      await removeIndices(url, space);
      await admin.close();
      for (const each of [disk, ...all.map((process) => process.disk)]) each?.remove();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
