import { Agent } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { ask } from './hand-over-load.ts';

/** Clients that write, and then read each acknowledged write on several connections at once. The connections reach all workers. */
export type WorkerPairs = {
  /** Reads whose answer lacked a write that was acknowledged before. */
  readonly stale: readonly string[];
  /** Requests without an answer, or with a wrong one. */
  readonly failures: readonly string[];
  /** Ids of the documents whose writes were acknowledged. */
  readonly written: readonly string[];
  /** Resolves after so many pairs of a write and its reads, even if requests failed meanwhile. */
  reached(pairs: number): Promise<void>;
  stop(): Promise<void>;
};

/** Reading connections of a client. Workers get connections in turns, so at least two of them reach different workers. */
const READERS = 3;
const AGAIN_MS = 2;

export function startWorkerPairs(url: string, clients: number, pauseMs = 0): WorkerPairs {
  const stale: string[] = [];
  const failures: string[] = [];
  const written: string[] = [];
  let isStopped = false;
  const agents: Agent[] = [];
  const connection = () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    agents.push(agent);
    return agent;
  };
  const read = async (id: string, name: string, agent: Agent): Promise<void> => {
    const { status, text } = await ask(`${url}/api/restaurants/${id}?fields=name`, agent);
    if (status === 404 || (status === 200 && !text.includes(`"${name}"`))) stale.push(`${name}: ${text}`);
    else if (status !== 200) failures.push(`read: ${status} ${text}`);
  };
  const run = async (client: number): Promise<void> => {
    const writer = connection();
    const readers = Array.from({ length: READERS }, connection);
    for (let i = 0; !isStopped; i++) {
      const name = `pair ${client} ${i}`;
      const wrote = await ask(`${url}/api/restaurants`, writer, { data: { key: name, name } });
      if (wrote.status !== 201) {
        failures.push(`write: ${wrote.status} ${wrote.text}`);
        await delay(AGAIN_MS);
        continue;
      }
      const id = (JSON.parse(wrote.text) as { data: { documentId: string } }).data.documentId;
      written.push(id);
      await Promise.all(readers.map((agent) => read(id, name, agent)));
      if (pauseMs > 0) await delay(pauseMs);
    }
  };
  const running = Promise.all(Array.from({ length: clients }, (_unused, client) => run(client)));
  return {
    stale,
    failures,
    written,
    async reached(pairs) {
      while (written.length < pairs) await delay(10);
    },
    async stop() {
      isStopped = true;
      await running;
      for (const agent of agents) agent.destroy();
    },
  };
}
