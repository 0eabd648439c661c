import { expect } from 'vitest';
import type { ElasticsearchNode } from '../support/elasticsearch-nodes.ts';
import type { ElasticsearchProxy } from '../support/elasticsearch-proxy.ts';
import { silent } from './break-elasticsearch.ts';
import type { Fault } from './fault.ts';
import type { FaultFleet } from './fault-fleet.ts';
import { aliasOf } from './faults-of-indices.ts';

const BOTH_LATER = { tags: 'later', countries: 'later' } as const;

type Copies = { readonly primary: ElasticsearchNode; readonly replica: ElasticsearchNode };

/** Returns the nodes with the copies of the live index of the tags. */
async function copiesOf({ admin, nodes }: FaultFleet, index: string): Promise<Copies> {
  const shards = await admin.send('GET', `/_cat/shards/${index}?format=json&h=prirep,node`);
  const on = (kind: string): ElasticsearchNode => {
    const shard = (shards as { prirep: string; node: string }[]).find(({ prirep }) => prirep === kind);
    const node = nodes.find(({ name }) => name === shard?.node);
    if (node === undefined) throw new Error(`${index} has no copy ${kind}`);
    return node;
  };
  return { primary: on('p'), replica: on('r') };
}

const liveTags = (fleet: FaultFleet) => fleet.admin.liveIndex(aliasOf(fleet));

async function masterOf({ admin, nodes }: FaultFleet): Promise<ElasticsearchNode> {
  const [found] = (await admin.send('GET', '/_cat/master?format=json')) as { node: string }[];
  return nodes.find(({ name }) => name === found?.node) as ElasticsearchNode;
}

type Chosen = (fleet: FaultFleet) => Promise<readonly ElasticsearchNode[]>;

const ofTags =
  (copy: keyof Copies): Chosen =>
  async (fleet) => [(await copiesOf(fleet, await liveTags(fleet)))[copy]];
const master: Chosen = async (fleet) => [await masterOf(fleet)];
const lastTwo: Chosen = async ({ nodes }) => nodes.slice(-2);

function kills(choose: Chosen): Fault['make'] {
  return async (fleet) => {
    const nodes = await choose(fleet);
    for (const node of nodes) node.signal('SIGKILL');
    return () => Promise.all(nodes.map((node) => node.start()));
  };
}

function pauses(choose: Chosen): Fault['make'] {
  return async (fleet) => {
    const nodes = await choose(fleet);
    for (const node of nodes) node.signal('SIGSTOP');
    return () => {
      for (const node of nodes) node.signal('SIGCONT');
    };
  };
}

/** Breaks the way of all processes to the first node. The node itself is healthy. */
function onFirstAddress(
  change: (way: ElasticsearchProxy, ended: Promise<void>) => void,
  restore: (way: ElasticsearchProxy) => void = (way) => way.intercept(() => undefined),
): Fault['make'] {
  return async ({ all }) => {
    const ways = all.flatMap(({ proxies }) => proxies.slice(0, 1));
    const ended = Promise.withResolvers<void>();
    for (const way of ways) change(way, ended.promise);
    return () => {
      ended.resolve();
      for (const way of ways) restore(way);
    };
  };
}

/** Sets settings of the cluster until the fault ends. */
async function setCluster({ admin }: FaultFleet, settings: Readonly<Record<string, unknown>>) {
  const set = (persistent: object) => admin.send('PUT', '/_cluster/settings', { persistent });
  await set(settings);
  return () => set(Object.fromEntries(Object.keys(settings).map((name) => [name, null])));
}

/** Makes every disk as full as Elasticsearch allows. It blocks the indices then, and looks every ten seconds. */
const FULL_DISKS = {
  'cluster.routing.allocation.disk.threshold_enabled': true,
  ...Object.fromEntries(
    ['low', 'high', 'flood_stage'].map((mark) => [
      `cluster.routing.allocation.disk.watermark.${mark}`,
      '1000tb',
    ]),
  ),
  'cluster.info.update.interval': '10s',
};

const left = ({ admin }: FaultFleet, { name }: ElasticsearchNode) =>
  expect
    .poll(() => admin.send('GET', '/_cat/nodes?format=json&h=name'), { timeout: 20_000, interval: 200 })
    .not.toContainEqual({ name });

/** Lets a copy that lacks the writes of the fault become the primary: its node was away, and then the one with all writes is. */
async function laggingPrimary(fleet: FaultFleet): Promise<() => Promise<unknown>> {
  const index = await liveTags(fleet);
  const { primary, replica } = await copiesOf(fleet, index);
  replica.signal('SIGKILL');
  await left(fleet, replica);
  return async () => {
    primary.signal('SIGKILL');
    await left(fleet, primary);
    const started = replica.start();
    const allocate = { index, shard: 0, node: replica.name, accept_data_loss: true };
    const reroute = () =>
      fleet.admin
        .send('POST', '/_cluster/reroute', { commands: [{ allocate_stale_primary: allocate }] })
        .then(() => 'done', String);
    await expect.poll(reroute, { timeout: 60_000, interval: 500 }).toBe('done');
    await Promise.all([started, primary.start()]);
  };
}

/** Faults of a cluster of three nodes with replicas. Processes have the addresses of all nodes. */
export const FAULTS_OF_NODES: readonly Fault[] = [
  ...(['primary', 'replica'] as const).flatMap((copy): readonly Fault[] => [
    {
      name: `a node is killed, with the ${copy} of an index`,
      make: kills(ofTags(copy)),
      writes: BOTH_LATER,
      lasts: 3_000,
    },
    {
      name: `a node is paused, with the ${copy} of an index`,
      make: pauses(ofTags(copy)),
      writes: BOTH_LATER,
      lasts: 8_000,
    },
  ]),
  { name: 'the master is killed', make: kills(master), writes: BOTH_LATER, lasts: 3_000 },
  { name: 'two of three nodes are killed', make: kills(lastTwo), writes: BOTH_LATER, lasts: 3_000 },
  { name: 'two of three nodes are paused', make: pauses(lastTwo), writes: BOTH_LATER, lasts: 8_000 },
  {
    name: 'the master and the leader are killed',
    async make(fleet, { leader }) {
      const [undo] = await Promise.all([kills(master)(fleet, await fleet.roles()), leader.end('SIGKILL')]);
      return () => Promise.all([undo(), leader.start()]);
    },
    writes: BOTH_LATER,
    disturbs: ['leader'],
  },
  {
    name: 'an index without replicas is on a node that is killed',
    async make(fleet, roles) {
      const index = await liveTags(fleet);
      const set = (settings: object) => fleet.admin.send('PUT', `/${index}/_settings`, settings);
      const node = (await copiesOf(fleet, index)).primary;
      await set({ 'index.auto_expand_replicas': false, 'index.number_of_replicas': 0 });
      const undo = await kills(async () => [node])(fleet, roles);
      return async () => {
        await undo();
        await set({ 'index.auto_expand_replicas': '0-1' });
      };
    },
    during: { all: { tags: 503, conditions: ['index-not-green', 'index-unusable'] } },
    writes: BOTH_LATER,
    says: /no copy of its index/,
    state: /no copy of its index/,
    log: /an index has changed behind Varve/,
    alerts: ['VarveIndexUnusable'],
  },
  {
    name: 'a copy of an index that lacks writes becomes the primary',
    make: laggingPrimary,
    log: /index-not-green/,
  },
  {
    name: 'the shards of a node move to the others',
    make: async (fleet) =>
      setCluster(fleet, {
        'cluster.routing.allocation.exclude._name': (await copiesOf(fleet, await liveTags(fleet))).primary
          .name,
      }),
    lasts: 3_000,
  },
  {
    name: 'Elasticsearch allocates no shards, and an index is deleted',
    async make(fleet) {
      const undo = await setCluster(fleet, { 'cluster.routing.allocation.enable': 'none' });
      await fleet.admin.send('DELETE', `/${await liveTags(fleet)}`);
      return undo;
    },
    writes: { tags: 'later' },
    log: /does not exist any more/,
    lasts: 4_000,
  },
  {
    name: 'Elasticsearch finds its disks full',
    make: (fleet) => setCluster(fleet, FULL_DISKS),
    during: { all: { tags: 503, countries: 503, conditions: ['index-unusable'] } },
    writes: { tags: 'any', countries: 'any' },
    says: /is blocked .*: lift the block/,
    state: /is blocked .*: lift the block/,
    log: /an index has changed behind Varve/,
    alerts: ['VarveIndexUnusable'],
  },
  {
    name: 'one of three addresses refuses connections',
    make: onFirstAddress(
      (way) => way.lose(),
      (way) => way.restore(),
    ),
    during: {},
  },
  {
    name: 'one of three addresses does not answer',
    make: onFirstAddress((way, ended) => way.intercept((request) => silent(request, ended))),
    during: {},
    writes: BOTH_LATER,
  },
  {
    name: 'a load balancer answers 502 for one of three addresses',
    make: onFirstAddress((way) => way.intercept(() => ({ status: 502, text: 'Bad Gateway' }))),
    during: {},
    writes: BOTH_LATER,
  },
];
