import type { ElasticsearchNode } from '../support/elasticsearch-nodes.ts';
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
];
