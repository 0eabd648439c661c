import { Agent, createServer, type RequestListener, request as send } from 'node:http';
import { defined } from '../../../shared/defined.ts';
import { ownSocket } from './listening-socket.ts';

/** A GET request. */
export type RecentRequest = { readonly url: string; readonly authorization?: string };

/** The last requests of a process, for the process that replaces it. */
export type RecentRequests = {
  /** Returns `handler` with a record of the requests that it gets. */
  watch(handler: RequestListener): RequestListener;
  list(): readonly RecentRequest[];
};

const KEPT = 500;
const LONGEST_URL = 4_096;

/** Creates an empty list. It has the last 500 GET requests whose URL has at most 4,096 characters. */
export function createRecentRequests(): RecentRequests {
  // These are two arrays of strings, because each new object in an old array costs the garbage collector time.
  const urls: string[] = [];
  const senders: (string | undefined)[] = [];
  let count = 0;
  return {
    watch: (handler) => (request, response) => {
      const { method, url = '', headers } = request;
      if (method === 'GET' && url.length <= LONGEST_URL) {
        const at = count++ % KEPT;
        urls[at] = url;
        senders[at] = headers.authorization;
      }
      handler(request, response);
    },
    list: () => urls.map((url, at) => ({ url, ...defined({ authorization: senders[at] }) })),
  };
}

/** Number of times that each request is answered. V8 compiles code that runs often, and queries fill their caches. */
const ROUNDS = 12;
const AT_ONCE = 4;

/** Warms a handler up: sends it these requests several times, for at most `atMostMs`. Ignores answers and failures. */
export async function warmUp(
  requests: readonly RecentRequest[],
  handler: RequestListener,
  atMostMs: number,
): Promise<void> {
  if (requests.length === 0) return;
  const server = createServer(handler);
  const socket = ownSocket(server);
  const { port } = await socket.open({ host: '127.0.0.1', port: 0 });
  const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE });
  const deadline = performance.now() + atMostMs;
  const total = requests.length * ROUNDS;
  let next = 0;
  const ask = async (): Promise<void> => {
    while (next < total && performance.now() < deadline) {
      await answered(requests[next++ % requests.length] as RecentRequest, port, agent);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, ask));
  agent.destroy();
  server.closeAllConnections();
  await (await socket.close()).ended;
}

/** Resolves when the answer has ended, or the request has failed. */
function answered({ url, authorization }: RecentRequest, port: number, agent: Agent): Promise<void> {
  const headers = authorization === undefined ? {} : { authorization };
  return new Promise((resolve) => {
    send({ host: '127.0.0.1', port, agent, path: url, headers }, (response) => {
      response.resume().once('close', resolve);
    })
      .once('error', () => resolve())
      .end();
  });
}
