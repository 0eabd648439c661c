import { Agent, type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';

/** Clients with one connection each that write, and read each write on another connection. */
export type HandOverLoad = {
  /** Wrong answers. */
  readonly failures: readonly string[];
  /** Names of the documents whose writes were acknowledged. */
  readonly written: readonly string[];
  /** Returns the milliseconds of the slowest write since the last call. */
  slowestWrite(): number;
  stop(): Promise<void>;
};

/** Without a pause the clients alone would keep two cores busy, and everything under test would wait for them. */
const PAUSE_MS = 20;
/** Number of loads so far. It keeps the names of documents unique. */
let loads = 0;

/** Starts clients. `readFrom`: the servers that must show every acknowledged write. */
export function startHandOverLoad(url: string, clients: number, readFrom = [url]): HandOverLoad {
  const load = ++loads;
  const failures: string[] = [];
  const written: string[] = [];
  const agents = Array.from({ length: 2 * clients }, () => new Agent({ keepAlive: true, maxSockets: 1 }));
  let isStopped = false;
  let slowest = 0;
  const run = async (client: number): Promise<void> => {
    const [writing = false, reading = false] = agents.slice(2 * client, 2 * client + 2);
    for (let i = 0; !isStopped; i++) {
      const name = `load ${load} client ${client} ${i}`;
      const started = performance.now();
      const wrote = await ask(`${url}/api/restaurants`, writing, { data: { key: name, name } });
      slowest = Math.max(slowest, performance.now() - started);
      if (wrote.status !== 201) failures.push(`write of ${name}: ${wrote.status} ${wrote.text}`);
      else written.push(name);
      const filter = `filters[name]=${encodeURIComponent(name)}&fields=name`;
      for (const asked of readFrom) {
        const read = await ask(`${asked}/api/restaurants?${filter}`, reading);
        if (read.status !== 200 || !read.text.includes(`"name":"${name}"`))
          failures.push(`read of ${name} from ${asked}: ${read.status} ${read.text.slice(0, 200)}`);
      }
      await delay(PAUSE_MS);
    }
  };
  const running = Promise.all(Array.from({ length: clients }, (_unused, client) => run(client)));
  return {
    failures,
    written,
    slowestWrite() {
      const found = slowest;
      slowest = 0;
      return found;
    },
    async stop() {
      isStopped = true;
      await running;
      for (const agent of agents) agent.destroy();
    },
  };
}

/** Sends a request. Status 0: there was no answer. `agent`: false for a new connection. */
export async function ask(
  url: string,
  agent: Agent | false,
  body?: unknown,
): Promise<{ readonly status: number; readonly text: string }> {
  const headers = body === undefined ? {} : { 'content-type': 'application/json' };
  return new Promise((resolve) => {
    const sent = request(url, { agent, method: body === undefined ? 'GET' : 'POST', headers }, (answer) => {
      void readAnswer(answer).then(resolve, (error: Error) => resolve({ status: 0, text: error.message }));
    });
    sent.once('error', (error) => resolve({ status: 0, text: error.message }));
    sent.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

async function readAnswer(answer: IncomingMessage): Promise<{ status: number; text: string }> {
  return { status: answer.statusCode ?? 0, text: await text(answer) };
}
