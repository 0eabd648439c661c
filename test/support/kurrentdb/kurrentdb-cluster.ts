import { setTimeout as delay } from 'node:timers/promises';
import { createDoubleLog, type DoubleLog } from './double-log.ts';
import { defaultVersion } from './double-services.ts';
import { type KurrentDbDouble, startKurrentDbDouble } from './kurrentdb-double.ts';
import { openTcpGate, type TcpGate } from './tcp-gate.ts';

export type ClusterNode = { readonly double: KurrentDbDouble; readonly gate: TcpGate };

/** Three doubles on one log that elect a leader as a cluster does. */
export type KurrentDbCluster = {
  /** Connection string that names all nodes. */
  readonly url: string;
  readonly nodes: readonly ClusterNode[];
  readonly log: DoubleLog;
  leader(): ClusterNode | undefined;
  /** Ends the node's connections and refuses new ones. */
  kill(node: ClusterNode): Promise<void>;
  revive(node: ClusterNode): Promise<void>;
  /** Pauses the node: connections stay open, new ones are accepted, nothing is answered. */
  freeze(node: ClusterNode): void;
  stop(): Promise<void>;
};

/** Duration of an election. A real cluster took a second (24.2, default settings). Nodes report the old leader until then. */
const ELECTION_MS = 1_000;

export const startKurrentDbCluster = async ({
  electionMs = ELECTION_MS,
  server = defaultVersion(),
} = {}): Promise<KurrentDbCluster> => {
  const log = createDoubleLog();
  const nodes: ClusterNode[] = [];
  for (let n = 0; n < 3; n += 1) {
    let port: number | undefined;
    const double = await startKurrentDbDouble({ log, server, advertisedPort: () => port });
    const gate = await openTcpGate(double.port);
    port = gate.port;
    nodes.push({ double, gate });
  }
  const down = new Set<ClusterNode>();
  let leader: ClusterNode | undefined = nodes[0];
  const settle = () => {
    for (const { double } of nodes) {
      double.join(nodes.filter((other) => other.double !== double).map((other) => other.double));
      double.follow(leader === undefined ? 'nobody' : leader.double);
    }
  };
  const elect = async () => {
    await delay(electionMs);
    const alive = nodes.filter((node) => !down.has(node));
    for (const node of nodes) node.double.seenAs(down.has(node) ? 'dead' : 'alive');
    if (alive.length < 2) leader = undefined;
    else if (leader === undefined || down.has(leader)) leader = alive[0];
    settle();
  };
  settle();
  return {
    url: `kurrentdb://${nodes.map(({ gate }) => `127.0.0.1:${gate.port}`).join(',')}?tls=false`,
    nodes,
    log,
    leader: () => leader,
    async kill(node) {
      down.add(node);
      if (node === leader) for (const { double } of nodes) double.loseLeader();
      await node.gate.cut();
      void elect();
    },
    async revive(node) {
      down.delete(node);
      node.gate.thaw();
      await node.gate.restore().catch(() => undefined);
      void elect();
    },
    freeze(node) {
      down.add(node);
      node.gate.freeze();
      void elect();
    },
    async stop() {
      for (const { double, gate } of nodes) {
        gate.thaw();
        double.stop();
        await gate.stop().catch(() => undefined);
      }
    },
  };
};
